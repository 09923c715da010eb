import Testing

@testable import LanyardCommands

/// Commands that are mistyped.
@Suite struct UnknownCommandTests {
    private static let lines: [(String, UnknownCommand?)] = [
        ("lgin", UnknownCommand(word: "lgin", nearest: "login")),
        ("config git", UnknownCommand(word: "git", nearest: "configure git")),
        ("whoami", UnknownCommand(word: "whoami", nearest: "status")),
        ("auth", UnknownCommand(word: "auth", nearest: "status")),
        ("auth login --web", UnknownCommand(word: "auth", nearest: "login")),
        ("auth switch", UnknownCommand(word: "auth", nearest: "use")),
        ("auth refresh", UnknownCommand(word: "auth", nearest: "status")),
        ("signout", UnknownCommand(word: "signout", nearest: "logout")),
        ("rule whoami", UnknownCommand(word: "whoami", nearest: nil)),
        ("rules lst", UnknownCommand(word: "lst", nearest: "list")),
        ("cache claer --yes", UnknownCommand(word: "claer", nearest: "clear")),
        ("frobnicate", UnknownCommand(word: "frobnicate", nearest: nil)),
        ("", nil), ("rule", nil), ("login lgin", nil), ("--frobnicate lgin", nil), ("doctor --jsn", nil),
    ]

    @Test(arguments: lines)
    func `the nearest command is found`(_ line: String, _ unknown: UnknownCommand?) {
        #expect(CommandTree.lanyard.unknownCommand(in: line.split(separator: " ").map(String.init)) == unknown)
    }

    @Test func `the complaint names it instead of an unexpected argument`() {
        let text = "Error: Unexpected argument 'lgin'\nUsage: lanyard <subcommand>"
        #expect(
            UnknownCommand(word: "lgin", nearest: "login").complaint(instead: text)
                == "Error: There is no command 'lgin'. Did you mean 'login'?\nUsage: lanyard <subcommand>")
        #expect(
            UnknownCommand(word: "\u{1B}x", nearest: nil).complaint(instead: text)
                == "Error: There is no command '?x'.\nUsage: lanyard <subcommand>")
    }
}
