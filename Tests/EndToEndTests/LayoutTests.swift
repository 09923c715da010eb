import Foundation
import TestSupport
import Testing

/// Output that is longer than a line of the terminal.
@Suite struct LayoutTests {
    private static let resource = "https://git.contoso.example/a/path/that/is/rather/long/and/more"

    private func withRule(_ body: @Sendable (Home) async throws -> Void) async throws {
        try await Home.with { home in
            let scopes = (1...4).flatMap { ["--scope", "https://contoso.example/sandbox-git/Repo.\($0)"] }
            let added = try await home.lanyard(
                [
                    "rule", "add", Self.resource, "--authority", "https://login.microsoftonline.com/contoso.com",
                    "--client-id", "11111111-2222-3333-4444-555555555555",
                ] + scopes)
            #expect(added.status == 0, "\(added)")
            try await body(home)
        }
    }

    @Test(arguments: [
        ["plugin", "list"], ["rule", "list"], ["explain", resource], ["explain", "https://dev.azure.com/contoso"],
        ["rule", "remove", "https://nothing.example/of/this/name/is/there/to/be/removed"],
    ])
    func `80 columns hold, word for word what a pipe gets`(_ command: [String]) async throws {
        try await withRule { home in
            let shown = try await home.lanyardAtTerminal(command, []).output
            let piped = try await home.lanyard(command)
            for line in shown.split(separator: "\n") { #expect(line.fits, "\(line)") }
            let words = { (text: String) in text.split { $0 == " " || $0 == "\n" } }
            // At a terminal, explain tells what the user would be asked there.
            #expect(command.first == "explain" || words(shown) == words(piped.output + piped.errors))
            #expect(shown.contains("\n    ") && shown != piped.output + piped.errors)
        }
    }

    @Test func `remedies hold 80 columns, too`() async throws {
        try await withRule { home in
            try home.program("git", "echo git version 2.39.5")
            let rules = try home.text(home.configFile)
            let open = "authority = \"https://login.microsoftonline.com/organizations\"\nclient-id = \"id\"\n"
            try home.write(open + rules, to: home.configFile)
            let question = "create the sealed keyring? [Y/n]"
            let shown = try await home.lanyardAtTerminal(["doctor"], [(question, "n")]).output
            #expect(shown.split(separator: "\n").allSatisfy { $0.fits }, "\(shown)")
            #expect(
                shown.contains(
                    "/config.toml:\n         authority = \"https://login.microsoftonline.com/TENANT\"\n"), "\(shown)")
            let piped = try await home.lanyard(["doctor"]).output
            #expect(piped.contains("config.toml: authority = \"https://login.microsoftonline.com/TENANT\"\n"))
        }
    }
}

extension Substring {
    /// Whether a line fits the terminal, except for commands and long words, such as the path of a program: the
    /// terminal must wrap those, so that they can be copied.
    fileprivate var fits: Bool {
        count <= 80 || contains("  lanyard ") || split(separator: " ").contains { $0.count > 40 }
    }
}
