import Terminal
import Testing

@testable import CommandKit
@testable import Commands
@testable import Diagnosis

/// Mistyped commands, and commands with other programs' names for them.
@Suite struct UnknownCommandTests {
    private static let lines: [(String, UnknownCommand?)] = [
        ("lgin", UnknownCommand(word: "lgin", parents: ["lanyard"], meant: ["login"])),
        ("config git", UnknownCommand(word: "config git", parents: ["lanyard"], meant: ["configure", "git"])),
        ("rules lst", UnknownCommand(word: "lst", parents: ["lanyard", "rule"], meant: ["list"])),
        ("cache claer --yes", UnknownCommand(word: "claer", parents: ["lanyard", "cache"], meant: ["clear"])),
        ("whoami", UnknownCommand(word: "whoami", parents: ["lanyard"], meant: ["status"])),
        ("auth", UnknownCommand(word: "auth", parents: ["lanyard"], meant: ["status"])),
        ("auth login --web", UnknownCommand(word: "auth", parents: ["lanyard"], meant: ["login"])),
        ("auth switch", UnknownCommand(word: "auth", parents: ["lanyard"], meant: ["use"])),
        ("auth refresh", UnknownCommand(word: "auth", parents: ["lanyard"], meant: ["status"])),
        ("rule whoami", UnknownCommand(word: "whoami", parents: ["lanyard", "rule"], meant: [])),
        ("setup git", UnknownCommand(word: "setup", parents: ["lanyard"], meant: ["configure", "git"])),
        ("frobnicate", UnknownCommand(word: "frobnicate", parents: ["lanyard"], meant: [])),
        ("", nil), ("rule", nil), ("login lgin", nil), ("--frobnicate lgin", nil), ("doctor --jsn", nil),
    ]

    /// The command tree, which takes long to create.
    private static let lanyard = CommandTree.lanyard

    @Test(arguments: lines)
    func `the command that is meant is found`(_ line: String, _ unknown: UnknownCommand?) {
        #expect(Self.lanyard.unknownCommand(in: line.split(separator: " ").map(String.init)) == unknown)
    }

    @Test func `what other programs call a command leads to one that there is`() {
        for (name, meant) in CommandTree.otherNames {
            #expect(Self.lanyard.subcommand(name) == nil, "\(name)")
            let found = meant.split(separator: " ").filter { !$0.hasPrefix("-") }.reduce(Self.lanyard as CommandTree?) {
                $0?.subcommand(String($1))
            }
            #expect(found != nil && found?.subcommands.isEmpty == true, "\(meant)")
        }
    }

    @Test func `the error is fit to show and names what is meant whole`() {
        let unknown = UnknownCommand(word: "\u{1B}x", parents: ["lanyard", "rule"], meant: ["add"])
        #expect(
            unknown.error
                == UsageError(
                    "there is no command '?x'",
                    hints: [
                        Hint("did you mean", run: "lanyard rule add"),
                        Hint("for all commands", run: "lanyard rule --help"),
                    ]))
    }
}
