import TestSupport
import Testing

/// Wrong command lines, and what commands say of them.
@Suite struct UsageTests {
    @Test func `git-credential-lanyard without a verb is a wrong command line`() async throws {
        try await Home.with { home in
            let ended = try await run(
                "\(home.folder)/bin/git-credential-lanyard", [], environment: home.environment)
            #expect(ended.status == 64 && ended.output.isEmpty, "\(ended)")
            #expect(ended.errors.hasPrefix("lanyard: error: git-credential-lanyard takes one of git's verbs: "))
            let help = try await run(
                "\(home.folder)/bin/git-credential-lanyard", ["--help"], environment: home.environment)
            #expect(help.status == 0 && help.output.contains("SUBCOMMANDS"), "\(help)")
        }
    }

    @Test(arguments: [["get", "--non-interactive"], ["accounts"], ["doctor"]])
    func `a command that failed ends with what it said`(_ arguments: [String]) async throws {
        try await Home.with { home in
            let ended = try await home.lanyard(arguments)
            #expect(ended.status == 1 && ended.errors.hasPrefix("lanyard: "), "\(ended)")
            #expect(!ended.errors.contains("\n\n"), "\(ended)")
        }
    }

    private static let mistyped = [
        (["help", "lgin"], "Error: There is no command 'lgin'. Did you mean 'login'?\n"),
        (["help", "rule", "ad"], "Error: There is no command 'ad'. Did you mean 'add'?\n"),
        (["help", "frobnicate"], "Error: There is no command 'frobnicate'.\n"),
    ]

    @Test(arguments: mistyped)
    func `help for a command that there isn't names the nearest`(_ arguments: [String], _ error: String) async throws {
        try await Home.with { home in
            let ended = try await home.lanyard(arguments)
            #expect(ended.status == 64 && ended.output.isEmpty, "\(ended)")
            #expect(ended.errors.hasPrefix(error) && ended.errors.contains("\nUsage: lanyard"), "\(ended)")
        }
    }

    @Test(arguments: [["help"], ["help", "login"], ["help", "rule", "add"], ["help", "rules"]])
    func `help for a command that there is helps`(_ arguments: [String]) async throws {
        try await Home.with { home in
            let ended = try await home.lanyard(arguments)
            #expect(ended.status == 0 && ended.output.contains("USAGE: lanyard") && ended.errors.isEmpty, "\(ended)")
        }
    }

    @Test func `the name of a wrong file is fit to show`() async throws {
        try await Home.with { home in
            let file = home.folder + "/\u{1B}[31mred.toml"
            try home.write("wrong", to: file)
            let ended = try await home.lanyard(["accounts"], ["LANYARD_CONFIG": file])
            #expect(ended.status == 1 && ended.errors.contains("/?[31mred.toml:1: "), "\(ended)")
            #expect(!ended.errors.contains("\u{1B}"))
        }
    }

    @Test func `a hint names the configuration that counts`() async throws {
        try await Home.with { home in
            let file = home.folder + "/mine.toml"
            try home.write("authority = \"https://login.microsoftonline.com/organizations\"\n", to: file)
            let ended = try await home.lanyard(["explain", "https://dev.azure.com/x"], ["LANYARD_CONFIG": file])
            #expect(ended.output.contains("/mine.toml") && !ended.output.contains(".config/lanyard"), "\(ended)")
        }
    }
}
