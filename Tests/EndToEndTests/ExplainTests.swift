import Foundation
import TestSupport
import Testing

/// `explain` predicts what `get` then does.
@Suite struct ExplainTests {
    private static let client = "11111111-2222-3333-4444-555555555555"

    private func explain(_ world: World, _ url: String, _ extra: [String: String] = [:]) async throws -> [String: Any] {
        let ended = try await world.lanyard(["explain", "--json", url], extra)
        #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended)")
        return try #require(try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: Any])
    }

    private func step(_ explanation: [String: Any]) -> String? {
        (explanation["next"] as? [String: Any])?["step"] as? String
    }

    private func step(at world: World, _ url: String, _ extra: [String: String] = [:]) async throws -> String? {
        step(try await explain(world, url, extra))
    }

    @Test func `says what lanyard would do, before and after a sign-in, and starts no plugin`() async throws {
        try await World.with(ownKernelKeys: true) { world in
            let url = "\(world.sandbox.resource)/common/hello.git"
            let browser = world.browser(as: "alice@contoso.example")
            #expect(try await step(at: world, url) == "fail")
            #expect(try await step(at: world, url, browser) == "sign-in")
            #expect(try await world.sandbox.authorityRequests().isEmpty)

            let token = try #require(try await world.get("common/hello.git", browser).value("password"))
            let after = try await explain(world, url)
            #expect(step(after) == "answer")
            #expect(after["remembered"] as? Bool == true)
            let account = try #require(after["account"] as? [String: Any])
            #expect(account["username"] as? String == "alice@contoso.example")
            #expect(account["chosen"] as? String == "only-one")
            #expect((after["git"] as? [String: Any])?["sendsPath"] as? Bool == true)

            let text = try await world.lanyard(["explain", url])
            #expect(text.output.contains("\nlanyard would answer from memory, at once\n"), "\(text)")
            #expect(!text.output.contains(token))
            let quiet = try await world.lanyard(["explain", url], ["LANYARD_ANSWER_CACHE": "0"])
            #expect(quiet.output.contains("\nlanyard would answer with the stored access token\n"), "\(quiet)")

            try await world.lanyard(["erase"], input: "url=\(url)\nusername=x\npassword=\(token)\n")
            try await world.sandbox.clearLog()
            let erased = try await explain(world, url)
            #expect(step(erased) == "renew" && erased["remembered"] as? Bool == false)
            #expect(try await world.sandbox.authorityRequests().isEmpty)
        }
    }

    @Test(arguments: [
        "https://ghcr.io", "https://registry.gitlab.com", "https://contoso.azurecr.io", "https://github.com",
    ])
    func `where no git is served, nothing is said of git`(url: String) async throws {
        try await Home.with(.unlocked) { home in
            let explained = try await home.lanyard(["explain", url])
            #expect(explained.output.contains("git ") == (url == "https://github.com"), "\(explained)")
        }
    }

    @Test func `the URL in a command to copy is one word of a shell`() async throws {
        try await Home.with(.unlocked) { home in
            let url = "https://nobody.example/x'\u{0301};$(echo>pwned)"
            let explained = try await home.lanyard(["explain", url])
            #expect(explained.output.contains("example/x'\\''\u{0301};$(echo>pwned)' --authority URL"), "\(explained)")
            let rule = [
                "--authority", "https://login.microsoftonline.com/c", "--client-id", Self.client, "--scope", "s",
            ]
            let added = try await home.lanyard(["rule", "add", "https://nobody.example/$(id)"] + rule)
            #expect(added.errors.contains("configure git") || added.errors.contains("login 'https:"), "\(added)")
            let after = try await home.lanyard(["explain", "https://nobody.example/$(id)"])
            #expect(!after.output.contains(": lanyard login https") && !after.output.contains("add https"), "\(after)")
        }
    }

    @Test func `says why a rule is not the one, and what would make a URL work`() async throws {
        try await World.with { world in
            let place = world.sandbox.resource
            let rule =
                "authority = \"\(world.sandbox.authority)/common\"\nclient-id = \"\(Self.client)\"\nscopes = [\"s\"]\n"
            let more = ["http://x.example", "https://y.example", "https://localhost:1", place, "\(place)/common"]
            try world.configure(after: more.map { "[[rule]]\nurl = \"\($0)\"\n\(rule)" }.joined())
            let found = try await explain(world, "\(place)/common/hello.git")
            let passed = try #require(found["passedOver"] as? [[String: Any]]).map {
                "\($0["url"] as? String ?? ""): \($0["reason"] as? String ?? "")"
            }
            #expect(passed.contains("\(place)/contoso: another path"))
            #expect(
                passed.filter { !$0.hasSuffix("another path") } == [
                    "\(place)/common: as specific, but earlier", "http://x.example: another scheme",
                    "https://y.example: another host", "https://localhost:1: another port", "\(place): less specific",
                ])
            // The user sees the closest matches.
            let near = try await world.lanyard(["explain", "\(place)/common/hello.git"])
            #expect(near.output.contains("\(place): less specific\n") && !near.output.contains("y.example"), "\(near)")
            #expect(near.output.contains("and 6 more; --all lists them\n"), "\(near)")
            let all = try await world.lanyard(["explain", "--all", "\(place)/common/hello.git"])
            #expect(all.output.contains("https://y.example: another host\n") && !all.output.contains("--all"), "\(all)")
            let below = try await world.lanyard(["explain", "https://a.y.example/"])
            #expect(below.output.contains("  other rules  https://y.example: another host\n"), "\(below)")
            #expect(!below.output.contains("http://x.example"), "\(below)")
            let none = try await world.lanyard(["explain", "https://nobody.example/x"])
            #expect(none.output.contains("lanyard would print nothing"), "\(none)")
            #expect(none.output.contains("to get a token here: lanyard rule add https://nobody.example/x "), "\(none)")
            let known = try await explain(world, "https://dev.azure.com/contoso")
            #expect((known["mapping"] as? [String: Any])?["name"] as? String == "Azure DevOps")
            #expect(step(known) == "nothing")
        }
    }

    @Test func `a rule for a well-known host needs no scopes, and a wrong authority is named first`() async throws {
        // The machine's broker would be on the bus.
        try await World.with(.secretService) { world in
            let microsoft = "https://login.microsoftonline.com"
            let rules = [
                "https://dev.azure.com/a": "\(microsoft)/contoso.com",
                "https://graph.microsoft.com": "\(microsoft)/common",
                "https://dev.azure.com/b": "\(microsoft)/contoso.com/v2.0",
                "https://dev.azure.com/c": "\(microsoft)/common/oauth2/v2.0/authorize",
                "https://d.example": "https://login.microsoftonlin.com/contoso.com",
                "https://c.example": "\(microsoft)/contoso.com/v2.0",
            ]
            let text = rules.map {
                "[[rule]]\nurl = \"\($0.key)\"\nauthority = \"\($0.value)\"\nclient-id = \"\(Self.client)\"\n"
            }
            try world.configure(after: text.joined())
            for url in ["https://dev.azure.com/a", "https://graph.microsoft.com"] {
                let known = try await world.lanyard(["explain", url])
                #expect(
                    known.output.contains("/.default") && !known.output.contains("would give no answer"), "\(known)")
            }
            for (url, says) in [
                (
                    "https://dev.azure.com/b",
                    "write it with its tenant and nothing else, such as \(microsoft)/contoso.com"
                ),
                ("https://dev.azure.com/c", "write it with its tenant and nothing else"),
                ("https://c.example", "write it with its tenant and nothing else"),
                ("https://d.example", "did you mean login.microsoftonline.com?"),
            ] {
                let faulty = try await world.lanyard(["explain", url])
                #expect(faulty.output.contains(says), "\(faulty)")
                let got = try await world.lanyard(["get"], input: "url=\(url)\n\n")
                #expect(got.status == 1 && got.hasNoCredential && got.errors.contains(says), "\(got)")
            }
        }
    }

    @Test func `a rule with a path that git keeps to itself is pointed out`() async throws {
        try await World.with { world in
            try await world.git(["config", "--global", "--unset", "credential.\(world.sandbox.resource).useHttpPath"])
            let ended = try await world.lanyard(["explain", "\(world.sandbox.resource)/common/hello.git"])
            #expect(ended.output.contains("lanyard configure git \(world.sandbox.resource)\n"), "\(ended)")
        }
    }

    @Test func `says how the account was chosen`() async throws {
        try await World.with { world in
            try await world.signIn("alice@contoso.example", "carol@fabrikam.example")
            let url = "\(world.sandbox.resource)/common/hello.git"
            func chosen(_ url: String, _ extra: [String: String] = [:]) async throws -> [String?] {
                let account = try await explain(world, url, extra)["account"] as? [String: Any]
                return [account?["username"] as? String, account?["chosen"] as? String]
            }
            let last = try await chosen(url)
            #expect(last == ["carol@fabrikam.example", "selected-here"])
            let named = try await chosen(url, ["LANYARD_ACCOUNT": "alice@contoso.example"])
            #expect(named == ["alice@contoso.example", "named"])
            let inURL = try await chosen(url.replacing("https://", with: "https://alice%40contoso.example@"))
            #expect(inURL == ["alice@contoso.example", "username"])
            let asked = try await world.lanyard(["explain", url, "--account", "alice@contoso.example"])
            #expect(asked.output.contains("alice@contoso.example (named by --account)"), "\(asked)")
        }
    }

    @Test func `what the server wants counts, as it does for get`() async throws {
        try await World.with { world in
            try await world.signIn("alice@contoso.example")
            let url = "\(world.sandbox.resource)/contoso/hello.git"
            let claims = #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#
            let challenge =
                "Bearer error=\"insufficient_claims\", claims=\"\(Data(claims.utf8).base64EncodedString())\""
            let header = challenge.replacing("\"", with: "\\\"")
            try await world.sandbox.fault(
                #"{"path": "info/refs", "status": 401, "headers": {"WWW-Authenticate": "\#(header)"}}"#)
            _ = try await world.get("contoso/hello.git")
            #expect(try await step(at: world, url) == "answer")
            func online(_ options: [String] = []) async throws -> [String: Any] {
                let ended = try await world.lanyard(["explain", "--json", "--online", url] + options)
                return try #require(try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: Any])
            }
            let explained = try await online()
            #expect(step(explained) == "renew" && explained["claims"] as? String == claims, "\(explained)")
            #expect(step(try await online(["--for", "git"])) == "renew")
            // docker doesn't pass on what the server wants.
            let docker = try await online(["--for", "docker"])
            #expect(docker["claims"] is NSNull?, "\(docker)")
            try await world.sandbox.clearLog()
            let got = try await world.get("contoso/hello.git", lines: "wwwauth[]=\(challenge)\n")
            #expect(try await world.sandbox.authorityRequests().compactMap(\.grantType) == ["refresh_token"], "\(got)")
        }
    }

    @Test func `says what named the account`() async throws {
        try await World.with { world in
            let alice = "alice@contoso.example"
            try await world.signIn(alice, "carol@fabrikam.example")
            let url = "\(world.sandbox.resource)/common/hello.git"
            let variable = try await world.lanyard(["explain", url], ["LANYARD_ACCOUNT": alice])
            #expect(variable.output.contains("\(alice) (named by LANYARD_ACCOUNT)"), "\(variable)")
            try world.configure(before: "account = \"\(alice)\"")
            let setting = try await world.lanyard(["explain", url])
            #expect(setting.output.contains("\(alice) (named by \(world.configFile):1)"), "\(setting)")
            try world.configure(rule: url, at: "common", "account = \"carol@fabrikam.example\"")
            let rule = try await world.lanyard(["explain", url])
            #expect(rule.output.contains("carol@fabrikam.example (named by the rule)"), "\(rule)")
        }
    }

    @Test func `says why nobody can sign in, if none of the ways to do it can be used`() async throws {
        try await World.with { world in
            try world.configure(hosts: [world.sandbox.gitea])
            let url = GitHost.gitea.repository(in: world.sandbox)
            let somebody = world.browser(as: "alice@contoso.example")
            #expect(try await step(at: world, url, somebody) == "sign-in")
            // Such hosts have no device codes.
            let environment = somebody.merging(["LANYARD_FLOW": "device-code"]) { $1 }
            let host = world.sandbox.gitea.url.dropFirst("https://".count)
            let reason = "\(host) has none of the ways to sign in that can be used here"
            let explained = try await world.lanyard(["explain", url], environment)
            #expect(explained.output.contains("lanyard would give no answer: \(reason)"), "\(explained)")
            let got = try await world.lanyard(["get"], environment, input: "url=\(url)\n")
            #expect(got.errors.contains("error: \(reason)"), "\(got)")
            let next = try #require(try await explain(world, url, environment)["next"] as? [String: Any])
            #expect(next["step"] as? String == "fail" && next["status"] as? Int == Int(got.status), "\(next) \(got)")
            // No broker serves them either.
            let broker = try await world.lanyard(["explain", url], somebody.merging(["LANYARD_FLOW": "broker"]) { $1 })
            #expect(
                broker.output.contains("lanyard would give no answer: no broker of this machine signs in here\n"),
                "\(broker)")
            #expect(broker.output.contains("sign in with --flow auto, or set flow to auto"), "\(broker)")
        }
    }

    @Test(arguments: [true, false])
    func `over http nothing promises a token`(hasRule: Bool) async throws {
        try await World.with { world in
            let url = "http://git.contoso.example"
            if hasRule {
                let rule =
                    "\n[[rule]]\nurl = \"\(url)\"\nauthority = \"https://login.microsoftonline.com/contoso.com\"\n"
                let text = try String(contentsOfFile: world.configFile, encoding: .utf8)
                try (text + rule).write(toFile: world.configFile, atomically: true, encoding: .utf8)
            }
            let ended = try await world.lanyard(["explain", url], ["GIT_CONFIG_GLOBAL": "/dev/null"])
            #expect(ended.output.contains("tokens are not sent over http, where others could read them"), "\(ended)")
            #expect(ended.output.contains("if the server has https, write: https://git.contoso.example"))
            #expect(!ended.output.contains("git does not ask lanyard here"))
            let command = "to have git ask lanyard for the password only: lanyard configure git \(url)\n"
            #expect(ended.output.contains(command) != hasRule)
        }
    }

    @Test func `never asks, not even a locked keyring`() async throws {
        try await World.with(.locked) { world in
            let url = "\(world.sandbox.resource)/common/hello.git"
            let steps = [try await step(at: world, url), try await step(at: world, url, ["DISPLAY": ":99"])]
            #expect(steps == ["fail", "unlock"])
        }
    }
}
