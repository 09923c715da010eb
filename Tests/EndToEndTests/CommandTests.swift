import Foundation
import TestSupport
import Testing

/// Commands as users and scripts run them.
@Suite struct CommandTests {
    @Test func `the help of az is one, and without an authority it says how to set one`() async throws {
        try await Home.with { home in
            let help = try await home.lanyard(["az", "--help"])
            #expect(help.status == 0 && help.errors.isEmpty && help.output.contains("get-access-token"), "\(help)")
            let ended = try await home.lanyard(["az", "account", "get-access-token"])
            #expect(ended.status != 0 && ended.errors.contains(": lanyard config set authority "), "\(ended)")
            #expect(!ended.errors.contains("URL that"), "\(ended)")
        }
    }

    @Test func `--version starts with the version and goes on with the protocols'`() async throws {
        let changelog = try String(contentsOfFile: "\(Built.checkout)/CHANGELOG.md", encoding: .utf8)
        let version = try #require(changelog.firstMatch(of: /\n## \[(\d.*?)\]/)?.1)
        let ended = try await run(Built.lanyard, ["--version"], environment: ["PATH": "/nonexistent"])
        #expect(ended.status == 0 && ended.errors.isEmpty)
        try #require(ended.lines.count == 3, "\(ended)")
        #expect(ended.lines.first == "lanyard \(version)")
        #expect(ended.lines[1] == "credential protocol: 0 (authtype, state)")
        #expect(ended.lines[2] == "plugin protocol: v1")
    }

    @Test func `login, accounts, token and logout`() async throws {
        try await World.with { world in
            let url = "\(world.sandbox.resource)/common/hello.git"
            let none = try await world.lanyard(["status", "--accounts"])
            #expect(none.status == 0 && none.output.isEmpty)
            #expect(none.errors == "lanyard: nobody is signed in\n")

            let login = try await world.lanyard(["login", url], world.browser(as: "alice@contoso.example"))
            #expect(login.status == 0, "\(login)")
            #expect(login.output.isEmpty)
            #expect(login.errors.hasSuffix("lanyard: signed in as alice@contoso.example\n"), "\(login)")

            let accounts = try await world.lanyard(["status", "--accounts"])
            #expect(accounts.lines.count == 2)
            #expect(accounts.lines.last?.hasPrefix("* alice@contoso.example  ") == true, "\(accounts)")
            let listed = try await world.lanyard(["status", "--accounts", "--json"])
            let json = try #require(
                try JSONSerialization.jsonObject(with: Data(listed.output.utf8)) as? [[String: Any]])
            #expect(json.count == 1)
            #expect(json.first?["username"] as? String == "alice@contoso.example")

            try await world.sandbox.clearLog()
            let token = try await world.lanyard(["token", url])
            #expect(token.status == 0 && token.errors.isEmpty, "\(token)")
            #expect(token.lines.count == 1 && token.lines.first?.split(separator: ".").count == 3)
            let shaped = try await world.lanyard(["token", "--json", url])
            let az = try #require(try JSONSerialization.jsonObject(with: Data(shaped.output.utf8)) as? [String: Any])
            #expect(az["accessToken"] as? String == token.lines.first)
            #expect(az["tokenType"] as? String == "Bearer")
            #expect((az["expires_on"] as? Int ?? 0) > Int(Date().timeIntervalSince1970) + 300)
            #expect((az["expiresOn"] as? String)?.hasSuffix(".000000") == true)
            #expect(try await world.sandbox.authorityRequests().isEmpty)

            let logout = try await world.lanyard(["logout", "ALICE@contoso.example"])
            #expect(logout.status == 0 && logout.errors == "lanyard: signed out alice@contoso.example\n", "\(logout)")
            #expect(try await world.lanyard(["status", "--accounts"]).output.isEmpty)
            let after = try await world.lanyard(["token", url])
            #expect(after.status == 2)
            #expect(
                after.errors.hasPrefix(
                    "lanyard: error: interaction required: nobody has signed in to \(world.sandbox.authority)/"),
                "\(after)")
        }
    }

    @Test func `get takes a token by name, without a rule or a host`() async throws {
        try await World.with { world in
            let authority = "\(world.sandbox.authority)/common"
            let explicit =
                "authority=\(authority)\nclient_id=\(world.sandbox.clientID)\nscope[]=https://graph.microsoft.com/User.Read\n"
            let first = try await world.lanyard(["get"], world.browser(as: "alice@contoso.example"), input: explicit)
            #expect(first.status == 0, "\(first)")
            let bearer = try await world.lanyard(["get"], input: "capability[]=authtype\n" + explicit)
            #expect(
                bearer.lines.map { $0.prefix { $0 != "=" } }
                    == ["capability[]", "authtype", "credential", "ephemeral", "password_expiry_utc"])
            #expect(bearer.value("credential") == first.value("password"))
            let header = world.folder + "/header"
            try "Authorization: Bearer \(first.value("password") ?? "")".write(
                toFile: header, atomically: true, encoding: .utf8)
            let me = try await run(
                "curl",
                [
                    "--silent", "--cacert", world.sandbox.caFile, "--header", "@\(header)",
                    "\(world.sandbox.resource)/v1.0/me",
                ],
                environment: world.environment)
            #expect(me.output.contains("alice@contoso.example"), "\(me)")
        }
    }

    @Test func `without a host the command in the hint names authority, client and scope`() async throws {
        try await World.with { world in
            let ended = try await world.get(at: "common")
            #expect(ended.status == 2)
            let command =
                "lanyard login --authority \(world.sandbox.authority)/common --client-id \(world.sandbox.clientID)"
            #expect(ended.errors.contains("hint: sign in: \(command) --scope api://sandbox-git/.default\n"), "\(ended)")
        }
    }

    @Test func `an option changes nothing that the system's policy locks`() async throws {
        try await World.with { world in
            let browser = try #require(world.browser(as: "alice@contoso.example")["BROWSER"])
            let arguments = ["token", "--browser", browser, "\(world.sandbox.resource)/common/hello.git"]
            for (lock, status) in [("browser", 2), ("flow", 0)] as [(String, Int32)] {
                let system = "browser = \"none\"\n[policy]\nlock = [\"\(lock)\"]\n"
                let ended = try await world.lanyard(arguments, system: system)
                #expect(ended.status == status, "\(lock): \(ended)")
            }
        }
    }

    @Test func `a name chooses among accounts, and signs in one that has not`() async throws {
        try await World.with { world in
            try await world.signIn("alice@contoso.example", "carol@fabrikam.example")
            let carol = try await world.get("common/hello.git", lines: "username=carol@fabrikam.example\n")
            #expect(carol.value("username") == "carol@fabrikam.example", "\(carol)")
            let alice = try await world.get("common/hello.git", lines: "account=Alice@Contoso.Example\n")
            #expect(alice.value("username") == "alice@contoso.example", "\(alice)")
            let named = try await world.get(
                "common/hello.git", world.browser(as: "bob@contoso.example"), lines: "account=bob@contoso.example\n")
            #expect(named.value("username") == "bob@contoso.example", "\(named)")
            let other = try await world.get(
                "common/hello.git", world.browser(as: "alice@contoso.example"), lines: "account=dave@outlook.example\n")
            #expect(other.status == 1 && other.hasNoCredential, "\(other)")
            let wrong = "alice@contoso.example signed in instead of dave@outlook.example"
            #expect(other.errors.contains(wrong), "\(other)")
            let use = "lanyard: hint: to use it: lanyard use alice@contoso.example\n"
            let kept = "alice@contoso.example stays signed in; to sign it out: lanyard logout alice@contoso.example\n"
            let renamed =
                "if that account was renamed, write alice@contoso.example wherever you wrote dave@outlook.example\n"
            let hints = [kept, renamed].map { "lanyard: hint: \($0)" }.joined()
            #expect(other.errors.hasSuffix(use + hints), "\(other)")
            let nobody = try await world.get("common/hello.git", lines: "account=zoe@contoso.example\n")
            #expect(nobody.status == 2)
            #expect(nobody.errors.hasPrefix("lanyard: error: the account zoe@contoso.example has not signed in"))
        }
    }

    @Test func `an erased token is renewed once, and then the user is asked`() async throws {
        try await World.with { world in
            let path = "common/hello.git"
            func erase(_ token: String?) async throws {
                let ended = try await world.lanyard(
                    ["erase"], input: "url=\(world.sandbox.resource)/\(path)\nusername=x\npassword=\(token ?? "")\n")
                #expect(ended.status == 0 && ended.output.isEmpty && ended.errors.isEmpty, "\(ended)")
            }
            let first = try await world.get(path, world.browser(as: "alice@contoso.example")).value("password")
            try await erase("some other token")
            #expect(try await world.get(path).value("password") == first)
            try await erase(first)
            let second = try await world.get(path).value("password")
            #expect(second != nil && second != first)
            // A late rejection of an old token has no effect.
            try await erase(first)
            #expect(try await world.get(path).value("password") == second)
            try await erase(second)
            let third = try await world.get(path)
            #expect(third.status == 2 && third.hasNoCredential, "\(third)")
            #expect(third.errors.contains(": the server refused the token that had just been renewed\n"), "\(third)")
            #expect(third.errors.contains("lanyard: hint: it is renewed again in "), "\(third)")
            let asked = try await world.get(path, world.browser(as: "alice@contoso.example"))
            #expect(asked.status == 0 && asked.value("password") != second)
        }
    }

    @Test func `a token got by name is erased by name`() async throws {
        try await World.with { world in
            let explicit =
                "authority=\(world.sandbox.authority)/common\nclient_id=\(world.sandbox.clientID)\nscope[]=https://graph.microsoft.com/User.Read\n"
            func get(_ extra: [String: String] = [:]) async throws -> String? {
                try await world.lanyard(["get"], extra, input: explicit).value("password")
            }
            let first = try #require(await get(world.browser(as: "alice@contoso.example")))
            #expect(try await get() == first)
            let ended = try await world.lanyard(["erase"], input: "\(explicit)password=\(first)\n")
            #expect(ended.status == 0 && ended.output.isEmpty && ended.errors.isEmpty, "\(ended)")
            let second = try #require(await get())
            #expect(second != first)
            // Without a host or scope, the password can't be matched.
            #expect(try await world.lanyard(["erase"], input: "password=\(second)\n").status == 0)
            #expect(try await get() == second)
        }
    }

    @Test func `a token that lanyard issued is never stored as a password`() async throws {
        try await World.with { world in
            let path = "common/hello.git"
            let token = try await world.get(path, world.browser(as: "alice@contoso.example")).value("password") ?? ""
            let store = try await world.lanyard(
                ["store"],
                input: "url=\(world.sandbox.resource)/\(path)\nusername=alice@contoso.example\npassword=\(token)\n")
            #expect(store.status == 0)
            let found = try await secretTool(["search", "--all", "protocol", "https"], environment: world.environment)
            #expect(!found.output.contains(token))
        }
    }

    @Test func `configure git is idempotent, keeps other helpers and sets useHttpPath`() async throws {
        try await World.with { world in
            try await world.git(["config", "--global", "--unset-all", "credential.helper"])
            try await world.git(["config", "--global", "--add", "credential.helper", "cache"])
            for _ in 0..<2 { #expect(try await world.lanyard(["configure", "git", "--yes"]).status == 0) }
            #expect(
                try await world.git(["config", "--global", "--get-all", "credential.helper"]).lines == [
                    "cache", "lanyard",
                ])
            #expect(
                try await world.git(["config", "--global", "credential.https://dev.azure.com.useHttpPath"]).lines == [
                    "true"
                ])
            #expect(
                try await world.git(["config", "--global", "credential.\(world.sandbox.resource).useHttpPath"]).lines
                    == ["true"])
        }
    }

    @Test func `the command in a hint is one that a shell reads as it is meant`() async throws {
        try await World.with { world in
            let url = "\(world.sandbox.resource)/common/it's;a&b$(id)"
            let ended = try await world.lanyard(["token", url])
            #expect(ended.status == 2, "\(ended)")
            let command = try #require(ended.errors.split(separator: "lanyard: hint: sign in: ").last)
            let words = try await run(
                "/bin/sh", ["-c", "lanyard() { printf '%s\\n' \"$@\"; }\n\(command)"], environment: world.environment)
            #expect(words.lines.count == 2 && words.lines.first == "login", "\(words)")
            #expect(
                words.lines.last?.contains("it's") == true && words.lines.last?.contains("a&b$(id)") == true)
        }
    }

    @Test(arguments: ["capability", "rule list --json", "--version"])
    func `a result that can't be written is a failure, and one that nobody reads is none`(
        _ command: String
    ) async throws {
        try await Home.with { home in
            let full = try await run("/bin/sh", ["-c", "lanyard \(command) >/dev/full"], environment: home.environment)
            #expect(full.status == 1)
            #expect(full.errors.contains("lanyard: error: the result can't be written: No space left"), "\(full)")
            // The reader exits before the result arrives.
            let script = "{ sleep 0.3; lanyard \(command); echo $? >&2; } | true"
            let unread = try await run("/bin/sh", ["-c", script], environment: home.environment)
            #expect(unread.errors == "0\n")
        }
    }

    @Test func `sandbox starts a sandbox`() async throws {
        try await World.with { world in
            let ended = try await world.lanyard(["sandbox", "--", "--help"])
            #expect(ended.status == 0)
            #expect(ended.output.contains("USAGE: lanyard sandbox <subcommand>"))
            let wrong = try await world.lanyard(["sandbox", "serve", "--prot", "1"])
            #expect(wrong.status == 64 && wrong.output.isEmpty)
            #expect(
                wrong.errors == """
                    lanyard: error: unknown option '--prot'
                    lanyard: hint: did you mean '--port'?
                    lanyard: hint: for help: lanyard sandbox serve --help

                    """)
        }
    }

    @Test(arguments: [["--no-such-option"], ["login", "--flow", "carrier-pigeon"], ["login", "--timeout", "1"]])
    func `a wrong command line is status 64 and says what is right`(arguments: [String]) async throws {
        let ended = try await run(
            Built.lanyard, arguments, environment: ["PATH": Programs.folder, "HOME": "/nonexistent"])
        #expect(ended.status == 64)
        #expect(ended.output.isEmpty)
        #expect(
            ended.errors.hasPrefix("lanyard: error: ") && ended.errors.contains("\nlanyard: hint: for help: lanyard"))
    }
}
