import Foundation
import TestSupport
import Testing

/// Rules whose credentials are looked up in other programs, for every kind of tool.
///
/// One after the other: agents of gpg that start at the same time end each other.
@Suite(.serialized) struct SourceTests {
    private static let secret = "Sesam öffne dich"

    /// A source, what it needs before, and what it gives.
    struct Case: Sendable, CustomTestStringConvertible {
        let source: String
        let program: String
        let preparation: String
        let username: String?
        var secret = SourceTests.secret
        var testDescription: String { source }
    }

    private static let store = """
        mkdir -m 700 -p "$GNUPGHOME"
        gpg --batch --quiet --passphrase '' --quick-generate-key carol@example.org default default never 2>&1
        pass init carol@example.org
        printf '%s\\nuser: carol\\n' '\(secret)' | pass insert -m git/contoso
        """

    private static let cases = [
        Case(
            source: "command:printf '%s\\\\nlogin: carol\\\\n' '\(secret)'", program: "sh", preparation: "",
            username: "carol"),
        Case(source: "pass:git/contoso", program: "pass", preparation: store, username: "carol"),
        Case(source: "gopass:git/contoso", program: "gopass", preparation: store, username: "carol"),
        Case(
            source: "gh", program: "gh",
            preparation: """
                mkdir -p "$XDG_CONFIG_HOME/gh"
                printf 'git.example:\\n    user: carol\\n    oauth_token: gho_abc\\n    git_protocol: https\\n' >"$XDG_CONFIG_HOME/gh/hosts.yml"
                """, username: "x-access-token", secret: "gho_abc"),
        Case(
            source: "glab", program: "glab", preparation: "glab config set token glpat-abc --host git.example",
            username: "oauth2", secret: "glpat-abc"),
    ].filter { FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0.program)") }

    private static func home(_ source: String, _ preparation: String, _ home: Home) async throws -> Home {
        var variables = ["GNUPGHOME": home.folder + "/home/.gnupg", "XDG_CONFIG_HOME": home.folder + "/config"]
        variables["HOME"] = home.folder + "/home"
        let home = home.with(variables)
        try home.write(
            "[[rule]]\nurl = \"https://git.example\"\nsource = \"\(source)\"\n",
            to: home.folder + "/config/lanyard/config.toml")
        for name in ["docker-credential-lanyard", "keyring"] {
            try FileManager.default.createSymbolicLink(
                atPath: "\(home.folder)/bin/\(name)", withDestinationPath: Built.lanyard)
        }
        let prepared = try await run("/bin/sh", ["-ec", preparation], environment: home.environment)
        #expect(prepared.status == 0, "\(prepared)")
        return home
    }

    @Test(arguments: cases)
    func `every tool gets what a source has, and nothing of it is kept`(_ row: Case) async throws {
        try await Home.with { home in
            let home = try await Self.home(row.source, row.preparation, home)
            let folder = home.folder + "/bin"
            func ask(_ program: String, _ arguments: [String], _ input: String = "", _ more: [String: String] = [:])
                async throws -> Ended
            {
                try await run(
                    "\(folder)/\(program)", arguments, input: input, environment: home.environment.merging(more) { $1 })
            }
            let git = try await ask("git-credential-lanyard", ["get"], "protocol=https\nhost=git.example\n\n")
            #expect(git.output.contains("username=\(row.username ?? "token")\npassword=\(row.secret)\n"), "\(git)")
            for action in ["store", "erase"] {
                let told = try await ask(
                    "git-credential-lanyard", [action],
                    "protocol=https\nhost=git.example\nusername=carol\npassword=\(row.secret)\n\n")
                #expect(told.status == 0 && told.errors.isEmpty, "\(told)")
            }
            let docker = try await ask("docker-credential-lanyard", ["get"], "https://git.example\n")
            #expect(docker.output.contains("\"Secret\":\"\(row.secret)\""), "\(docker)")
            let pip = try await ask("keyring", ["get", "https://git.example/simple", row.username ?? "carol"])
            #expect(pip.output == row.secret + "\n", "\(pip)")
            let info =
                #"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false,"cluster":{"server":"https://git.example"}}}"#
            let kubectl = try await ask("lanyard", ["kubectl"], "", ["KUBERNETES_EXEC_INFO": info])
            #expect(kubectl.output.contains("\"token\":\"\(row.secret)\""), "\(kubectl)")
            let token = try await ask("lanyard", ["token", "https://git.example"])
            #expect(token.output == row.secret + "\n", "\(token)")
            let explained = try await ask("lanyard", ["explain", "https://git.example"])
            #expect(explained.output.contains("get would look it up in"), "\(explained)")
            // Other hosts don't get it.
            let other = try await ask("git-credential-lanyard", ["get"], "protocol=https\nhost=git.example.org\n\n")
            #expect(!other.output.contains(row.secret), "\(other)")
            let kept = try await run(
                "/bin/sh", ["-c", "grep -rlF '\(row.secret)' '\(home.folder)' | grep -v config"],
                environment: home.environment)
            #expect(kept.output.isEmpty, "\(kept)")
            _ = try await run(
                "/bin/sh", ["-c", "gpgconf --kill gpg-agent; gpgconf --remove-socketdir"], environment: home.environment
            )
        }
    }

    @Test func `no secret is an argument of a program`() async throws {
        try await Home.with { home in
            let home = try await Self.home("command:cat '\(home.folder)/secret'", "", home)
            try home.write(Self.secret + "\n", to: home.folder + "/secret")
            let traced = try await run(
                "/usr/bin/strace",
                [
                    "-f", "-s", "1000", "-e", "trace=execve", "-o", home.folder + "/trace",
                    home.folder + "/bin/lanyard",
                    "token", "https://git.example",
                ], environment: home.environment)
            #expect(traced.output == Self.secret + "\n", "\(traced)")
            let text = try home.text(home.folder + "/trace")
            #expect(text.contains("/secret") && !text.contains("Sesam"))
        }
    }

    @Test func `a locked database is an error with the command that shows why`() async throws {
        try await Home.with { home in
            let database = home.folder + "/passwords.kdbx"
            let home = try await Self.home("keepassxc:\(database):contoso", "", home)
            let without = try await home.lanyard(["token", "https://git.example"])
            #expect(without.status == 1)
            #expect(
                without.errors == """
                    lanyard: error: keepassxc needs a password, and nobody can be asked here
                    lanyard: hint: run it at a terminal

                    """)
            let made = try await run(
                "/bin/sh",
                [
                    "-ec",
                    """
                    printf 'geheim\\ngeheim\\n' | keepassxc-cli db-create -q -p '\(database)'
                    printf 'geheim\\nKP secret\\n' | keepassxc-cli add -q -u kate -p '\(database)' contoso
                    """,
                ], environment: home.environment)
            #expect(made.status == 0, "\(made)")
            let question = "password of \(database): "
            let right = try await home.lanyardAtTerminal(["token", "https://git.example"], [(question, "geheim\n")])
            #expect(right.output.contains("KP secret"), "\(right)")
            let wrong = try await home.lanyardAtTerminal(["token", "https://git.example"], [(question, "falsch\n")])
            #expect(wrong.status == 1 && wrong.output.contains("keepassxc-cli ls"), "\(wrong)")
        }
    }

    @Test(arguments: [
        ("bw:x", "bw is not installed"), ("pas:x", "no plugin has the source pas"),
        ("pass", "the rule doesn't say what to look up in pass"),
        ("pass:--help", "--help looks like an option of a program"),
        ("command:exit 3", "command has nothing for exit 3, or is locked"),
        ("command:echo out of order >&2; exit 1", "or is locked: out of order"),
        ("command:true", "sh gave no password for true"),
    ])
    func `what is wrong with a source`(_ source: String, _ message: String) async throws {
        try await Home.with { home in
            let home = try await Self.home(source, "", home)
            let ended = try await home.lanyard(["token", "https://git.example"])
            #expect(ended.status == 1 && ended.errors.contains(message), "\(ended)")
        }
    }

    @Test func `an answer is kept only if an option says so`() async throws {
        try await Home.with { home in
            let home = try await Self.home("command:echo x >>'\(home.folder)/runs'; echo abc", "", home)
            let file = home.folder + "/config/lanyard/config.toml"
            for _ in 1...2 { #expect(try await home.lanyard(["token", "https://git.example"]).output == "abc\n") }
            #expect(try home.text(home.folder + "/runs") == "x\nx\n")
            try home.write(try home.text(file) + "[plugin.source]\nkep-for = \"60\"\n", to: file)
            let wrong = try await home.lanyard(["token", "https://git.example"])
            #expect(wrong.errors.contains("the source plugin has no option `kep-for`"), "\(wrong)")
            #expect(wrong.errors.contains("did you mean `keep-for`?"), "\(wrong)")
            let listed = try await home.lanyard(["config", "list"])
            #expect(listed.output.contains("plugin.source.kep-for"), "\(listed)")
        }
    }
}
