import Foundation
import TestSupport
import Testing

/// Invalid command lines, and the commands' error messages.
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

    @Test(arguments: [["get", "--non-interactive"], ["status", "--accounts"], ["doctor"]])
    func `a command that failed ends with what it said`(_ arguments: [String]) async throws {
        try await Home.with { home in
            let ended = try await home.lanyard(arguments)
            #expect(ended.status == 1 && ended.errors.hasPrefix("lanyard: "), "\(ended)")
            #expect(!ended.errors.contains("\n\n"), "\(ended)")
        }
    }

    private static let wrong: [(arguments: [String], error: String, hints: [String])] = [
        (
            ["help", "lgin"], "there is no command 'lgin'",
            ["did you mean: lanyard login", "for all commands: lanyard --help"]
        ),
        (
            ["help", "rule", "ad"], "there is no command 'ad'",
            ["did you mean: lanyard rule add", "for all commands: lanyard rule --help"]
        ),
        (["frobnicate"], "there is no command 'frobnicate'", ["for all commands: lanyard --help"]),
        (
            ["auth", "login"], "there is no command 'auth'",
            ["did you mean: lanyard login", "for all commands: lanyard --help"]
        ),
        (
            ["setup"], "there is no command 'setup'",
            ["did you mean: lanyard configure git", "for all commands: lanyard --help"]
        ),
        (["\u{1B}[31m"], "there is no command '?[31m'", ["for all commands: lanyard --help"]),
        (
            ["doctor", "--\u{1B}[31m"], "unknown option '--?[31m'",
            ["usage: lanyard doctor [--online] [--all] [--json] [--report]", "for help: lanyard doctor --help"]
        ),
        (
            ["login", "--acount", "alice"], "unknown option '--acount'",
            ["did you mean '--account'?", "for help: lanyard login --help"]
        ),
        (
            ["rule", "add"], "missing argument '<url>'",
            ["usage: lanyard rule add [<options>] <url>", "for help: lanyard rule add --help"]
        ),
        (
            ["login", "--flow", "carrier-pigeon"], "the value 'carrier-pigeon' is invalid for '--flow <flow>'",
            ["use one of 'auto', 'browser', 'device-code' or 'broker'", "for help: lanyard login --help"]
        ),
        (
            ["import"], "give a file, or --from and a program",
            [
                "usage: lanyard import [<options>] <document>", "usage: lanyard import [<options>] --from <program>",
                "for help: lanyard import --help",
            ]
        ),
        (
            ["token", "--scope", "foo"], "a token needs both an authority and a scope",
            [
                "give a URL that a rule maps, or name the token: lanyard token --authority URL --client-id ID --scope SCOPE"
            ]
        ),
        (["login", "https://"], "https:// is not a URL", ["write it like: https://dev.azure.com/contoso"]),
    ]

    @Test(arguments: wrong)
    func `a wrong command line is an error with hints like any other, and status 64`(
        _ arguments: [String], _ error: String, _ hints: [String]
    ) async throws {
        try await Home.with { home in
            let ended = try await home.lanyard(arguments)
            #expect(ended.status == 64 && ended.output.isEmpty, "\(ended)")
            let lines = ["error: \(error)"] + hints.map { "hint: \($0)" }
            #expect(ended.errors == lines.map { "lanyard: \($0)\n" }.joined())
            let coloured = try await home.lanyard(arguments, ["CLICOLOR_FORCE": "1"])
            #expect(coloured.errors.hasPrefix("lanyard: \u{1B}[1;31merror:\u{1B}[0m "), "\(coloured)")
        }
    }

    @Test(arguments: ["--account", "--identity", "--authority", "--client-id"])
    func `an option that a script left empty is named`(_ option: String) async throws {
        try await Home.with { home in
            for command in ["token", "login"] {
                let ended = try await home.lanyard([command, option, "", "https://dev.azure.com/contoso"])
                #expect(ended.status == 64 && ended.output.isEmpty, "\(ended)")
                let isThere = option != "--identity" || command == "token"
                #expect(ended.errors.contains("\(option) is empty; leave it out") || !isThere, "\(ended)")
            }
        }
    }

    @Test func `the version is told however it is asked for`() async throws {
        try await Home.with { home in
            let told = try await home.lanyard(["--version"])
            #expect(told.status == 0 && told.output.hasPrefix("lanyard "), "\(told)")
            for arguments in [["-V"], ["version"]] {
                #expect(try await home.lanyard(arguments).output == told.output)
            }
            // Another program's options are left alone.
            let other = try await home.lanyard(["exec", "--authority", "x", "--", "true", "--version"])
            #expect(other.status != 0 && other.output.isEmpty, "\(other)")
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
            let ended = try await home.lanyard(["status", "--accounts"], ["LANYARD_CONFIG": file])
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

    /// The commands that take a URL.
    private static let takers = [
        ["login"], ["token"], ["status", "--accounts"], ["status"], ["explain"], ["configure", "git"], ["rule", "add"],
        ["unconfigure", "git"], ["rule", "remove"], ["forward", "add", "devbox"], ["use", "bob@contoso.com"],
        ["identity", "check", "environment"],
    ]

    @Test(arguments: takers)
    func `an account in place of a URL is called one`(command: [String]) async throws {
        try await Home.with(.unlocked) { home in
            let ended = try await home.lanyard(command + ["alice@contoso.com"])
            let told = """
                lanyard: error: alice@contoso.com is an account, and not a URL
                lanyard: hint: sign it in: lanyard login --account alice@contoso.com URL

                """
            #expect(ended.status == 64 && ended.errors == told, "\(ended)")
        }
    }

    @Test(
        arguments: takers.filter { $0 != ["rule", "remove"] } + [["exec"], ["configure", "docker"]],
        [
            "git@ssh.dev.azure.com:v3/contoso/My%20Project/repo",
            "ssh://git@ssh.dev.azure.com/v3/contoso/My%20Project/repo",
        ])
    func `an address for ssh in place of a URL comes with the same command over https`(
        command: [String], address: String
    )
        async throws
    {
        try await Home.with(.unlocked) { home in
            let tail = command == ["exec"] ? ["--", "true", "a b"] : []
            let ended = try await home.lanyard(command + [address] + tail)
            let words = (command + ["https://dev.azure.com/contoso/My%20Project/_git/repo"]).joined(separator: " ")
            let again = "lanyard \(words)\(tail.isEmpty ? "" : " -- true 'a b'")"
            #expect(ended.errors.hasSuffix("hint: use the server's https URL: \(again)\n"), "\(ended)")
            #expect(ended.status == 64)
        }
    }

    @Test(arguments: [["token"], ["exec", "https://graph.microsoft.com", "--", "true"]])
    func `who asks for a token without a rule is told what makes one`(command: [String]) async throws {
        try await Home.with(.unlocked) { home in
            let url = "https://graph.microsoft.com"
            let ended = try await home.lanyard(command.count > 1 ? command : command + [url])
            #expect(ended.errors.contains("hint: add one: lanyard rule add \(url)/\n"), "\(ended)")
            #expect(!ended.errors.contains("configure git"))
        }
    }

    @Test func `a misspelt https is told with the same command`() async throws {
        try await Home.with { home in
            let ended = try await home.lanyard(["configure", "git", "--only", "htps://git.contoso.com"])
            let told = "hint: did you mean: lanyard configure git --only https://git.contoso.com\n"
            #expect(ended.status == 64 && ended.errors.hasSuffix(told), "\(ended)")
            #expect(!FileManager.default.fileExists(atPath: home.gitFile))
        }
    }
}
