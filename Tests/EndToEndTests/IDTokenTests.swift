import Foundation
import TestSupport
import Testing

/// ID tokens as credentials, and what they say.
@Suite struct IDTokenTests {
    private static let alice = "alice_contoso"

    /// Runs the body in a world with a rule for the issuer's own URL; passes the URL.
    private static func withRule(
        _ settings: String = "{}", _ options: [String] = ["--token", "id"],
        _ body: @escaping @Sendable (World, String) async throws -> Void
    ) async throws {
        try await World.with { world in
            try await world.sandbox.set(settings)
            let issuer = world.sandbox.issuer
            let added = try await world.lanyard(
                [
                    "rule", "add", issuer.url, "--authority", issuer.url, "--kind", "oidc", "--client-id",
                    issuer.clientID,
                ]
                    + options)
            #expect(added.status == 0, "\(added)")
            try await body(world, issuer.url)
        }
    }

    private static func claims(_ token: String) throws -> [String: Any] {
        let parts = token.split(separator: ".")
        try #require(parts.count == 3, "\(token)")
        var text = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        let data = try #require(Data(base64Encoded: text))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    @Test func `a rule's ID token is the app's, for kubectl and all others, until it ends`() async throws {
        try await Self.withRule(#"{"access_token_lifetime": 40}"#) { world, url in
            let explained = try await world.lanyard(["explain", url])
            #expect(explained.output.contains(/token +the ID token/), "\(explained)")
            let members = try await world.lanyard(["explain", "--json", url])
            #expect(members.output.contains(/"token" ?: ?"id"/), "\(members)")
            let signedIn = try await world.lanyard(["token", url], world.browser(as: Self.alice))
            let token = try #require(signedIn.lines.first, "\(signedIn)")
            let claims = try Self.claims(token)
            #expect(claims["aud"] as? String == world.sandbox.issuer.clientID, "\(claims)")
            try await world.sandbox.clearLog()
            let info =
                #"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false}}"#
            let kubectl = try await world.lanyard(["kubectl", url], ["KUBERNETES_EXEC_INFO": info])
            #expect(kubectl.output.contains("\"token\":\"\(token)\""), "\(kubectl)")
            #expect(kubectl.output.contains("expirationTimestamp"), "\(kubectl)")
            #expect(try await world.sandbox.requests().isEmpty)
            try await Task.sleep(for: .seconds(41))
            try await world.sandbox.set(#"{"access_token_lifetime": 3600}"#)
            let renewed = try await world.lanyard(["token", url])
            #expect(renewed.lines.first.map { $0 != token } == true, "\(renewed)")
            let asked = try await world.sandbox.requests().compactMap(\.grantType)
            #expect(Set(asked) == ["refresh_token"], "\(asked)")
        }
    }

    @Test(.enabled(if: Clients.folder != nil, "there are none: script/get tools says why"))
    func `it logs in to HashiCorp Vault, by its library for Python`() async throws {
        try await World.with { world in
            let issuer = world.sandbox.issuer
            try await OIDCCluster.serve(
                in: world.folder + "/vault", issuer: issuer.url, client: issuer.clientID, caFile: world.sandbox.caFile
            ) { vault in
                let added = try await world.lanyard([
                    "rule", "add", vault.url, "--authority", issuer.url, "--kind", "oidc", "--client-id",
                    issuer.clientID, "--token", "id",
                ])
                #expect(added.status == 0, "\(added)")
                let login = try await world.lanyard(["login", vault.url], world.browser(as: Self.alice))
                try #require(login.status == 0, "\(login)")
                let page = try String(contentsOfFile: Built.checkout + "/docs/scripting.md", encoding: .utf8)
                let blocks = page.components(separatedBy: "```sh\n").compactMap {
                    $0.components(separatedBy: "\n```").first
                }
                let printed = try #require(blocks.first { $0.contains("import hvac") })
                let script = printed.replacing("https://vault.contoso.com", with: vault.url)
                    .replacing("lanyard", with: world.folder + "/bin/lanyard")
                    .replacing("python3", with: Clients.program("python3"))
                var environment = world.environment
                environment["REQUESTS_CA_BUNDLE"] = vault.caFile
                let ended = try await world.runInside("sh", ["-c", script], environment: environment)
                #expect(ended.status == 0 && ended.output == "hvs.stand-in\n", "\(ended)")
            }
        }
    }

    @Test func `one that a server refuses is made anew, once`() async throws {
        try await Self.withRule { world, url in
            let signedIn = try await world.lanyard(["token", url], world.browser(as: Self.alice))
            let first = try #require(signedIn.lines.first, "\(signedIn)")
            let printed = try await world.lanyard(["token", "--json", url])
            #expect(printed.output.contains("\"idToken\"") && !printed.output.contains("Bearer"), "\(printed)")
            let status = try await world.lanyard(["status"])
            #expect(status.output.contains(", the ID token\n"), "\(status)")
            let decoded = try await world.lanyard(["token", "--decode", url])
            #expect(decoded.status == 0 && !decoded.output.contains("ID token:"), "it is shown once: \(decoded)")
            let explained = try await world.lanyard(["explain", url])
            #expect(explained.output.contains("ID token, for "), "\(explained)")
            #expect(!explained.output.contains("access token"), "\(explained)")
            try await world.sandbox.clearLog()
            func refused(_ token: String) async throws -> String {
                let erased = try await world.lanyard(
                    ["erase"], input: "url=\(url)\nusername=\(Self.alice)\npassword=\(token)\n")
                #expect(erased.status == 0, "\(erased)")
                return try #require(try await world.lanyard(["token", url]).lines.first)
            }
            let second = try await refused(first)
            #expect(second != first)
            #expect(try await refused(second) == second, "another renewal would not help")
            #expect(try await world.sandbox.requests().compactMap(\.grantType) == ["refresh_token"])
        }
    }

    @Test func `tokens that live for minutes aren't renewed at each use`() async throws {
        try await Self.withRule(#"{"access_token_lifetime": 60}"#) { world, url in
            let first = try await world.lanyard(["token", url], world.browser(as: Self.alice))
            #expect(first.status == 0, "\(first)")
            try await world.sandbox.clearLog()
            for _ in 1...3 {
                let again = try await world.lanyard(["token", url])
                #expect(again.output == first.output, "\(again)")
            }
            #expect(try await world.sandbox.requests().isEmpty)
        }
    }

    @Test func `an issuer that renews no ID tokens has the user sign in again`() async throws {
        try await Self.withRule(#"{"access_token_lifetime": 5, "id_token_at_renewal": 0}"#) { world, url in
            let first = try await world.lanyard(["token", url], world.browser(as: Self.alice))
            #expect(first.status == 0, "\(first)")
            try await Task.sleep(for: .seconds(6))
            let alone = try await world.lanyard(["token", url])
            #expect(alone.status == 2 && alone.errors.contains("renews no ID tokens"), "\(alone)")
            let again = try await world.lanyard(["token", url], world.browser(as: Self.alice))
            #expect(again.status == 0 && again.output != first.output, "\(again)")
        }
    }

    @Test func `a request may ask for it where a rule names the host, and nowhere else`() async throws {
        try await Self.withRule("{}", ["--scope", "openid"]) { world, url in
            let login = try await world.lanyard(["login", url, "--json"], world.browser(as: Self.alice))
            #expect(login.status == 0 && login.output.contains("\"claims\""), "\(login)")
            let asked = try await world.lanyard(["get"], input: "url=\(url)/contoso\ntoken=id\n")
            let printed = try await world.lanyard(["token", "--id-token", url])
            let token = try #require(printed.lines.first, "\(printed)")
            #expect(asked.value("password") == token, "\(asked)")
            let plain = try await world.lanyard(["token", url])
            #expect(plain.status == 0 && plain.lines.first != token, "\(plain)")
            let named = try await world.lanyard(
                ["token", "--id-token", "--authority", url, "--client-id", world.sandbox.issuer.clientID])
            #expect(named.lines.first == token, "\(named)")
            let elsewhere = try await world.lanyard(
                ["get"],
                input: "url=https://graph.microsoft.com/v1.0\nauthority=\(world.sandbox.authority)/common\n"
                    + "client_id=\(world.sandbox.clientID)\ntoken=id\n")
            #expect(
                elsewhere.hasNoCredential
                    && elsewhere.errors.contains(
                        "an ID token is only for hosts that a rule names, and none names graph.microsoft.com"),
                "\(elsewhere)")
            let wrong = try await world.lanyard(["get"], input: "url=\(url)\ntoken=refresh\n")
            #expect(wrong.hasNoCredential && wrong.status != 0, "\(wrong)")
        }
    }

    @Test(arguments: [GitHost.gitLab, .gitea, .forgejo])
    func `a code host that speaks OpenID Connect gives one`(host: GitHost) async throws {
        try await World.with { world in
            let place = host.place(in: world.sandbox)
            let added = try await world.lanyard([
                "rule", "add", "https://cluster.example", "--authority", place.url, "--kind", host.kind, "--client-id",
                place.clientID, "--token", "id", "--trust-authority",
            ])
            #expect(added.status == 0, "\(added)")
            let url = "https://cluster.example"
            let token = try await world.lanyard(["token", url], world.browser(as: "alice@contoso.example"))
            let claims = try Self.claims(try #require(token.lines.first, "\(token)"))
            #expect(claims["aud"] as? String == place.clientID && claims["iss"] as? String == place.url, "\(claims)")
        }
    }

    @Test func `where there are none, nobody signs in for one`() async throws {
        try await World.with { world in
            let forge = world.sandbox.forge
            let rule = ["rule", "add", forge.url, "--authority", forge.url, "--kind", "github", "--client-id", "app"]
            let refused = try await world.lanyard(rule + ["--token", "id"])
            #expect(refused.status != 0 && refused.errors.contains("\(forge.url) has no ID tokens"), "\(refused)")
            #expect(try await world.lanyard(rule).status == 0)
            let asked = try await world.lanyard(["token", "--id-token", forge.url], world.browser(as: Self.alice))
            #expect(asked.status != 0 && asked.errors.contains("has no ID tokens"), "\(asked)")
            let claims = ["token", "--decode", forge.url, "--claim", "userinfo.email"]
            let wanted = try await world.lanyard(claims, world.browser(as: Self.alice))
            #expect(wanted.status != 0 && wanted.errors.contains("no claims to ask for"), "\(wanted)")
            let text = try String(contentsOfFile: world.configFile, encoding: .utf8)
            try (text + "token = \"id\"\n").write(toFile: world.configFile, atomically: true, encoding: .utf8)
            for command in [["explain", forge.url], ["doctor"], ["status"]] {
                let told = try await world.lanyard(command)
                #expect((told.output + told.errors).contains("has no ID tokens"), "\(told)")
            }
            #expect(try await world.sandbox.requests().isEmpty)
            let robot = try await world.lanyard([
                "identity", "add", "robot", "--authority", world.sandbox.issuer.url, "--kind", "oidc", "--client-id",
                "robot", "--assertion", "variable:TOKEN", "--trust-authority",
            ])
            #expect(robot.status == 0, "\(robot)")
            let nobody = try await world.lanyard([
                "rule", "add", "https://git.example", "--identity", "robot", "--scope", "git", "--token", "id",
            ])
            #expect(nobody.status != 0 && nobody.errors.contains("the identity robot has no ID token"), "\(nobody)")
        }
    }

    @Test(arguments: [
        (#"{"path": "/oauth/userinfo", "status": 503, "body": "\u001b[2J"}"#, "(HTTP 503)"),
        (#"{"path": "/oauth/userinfo", "status": 200, "body": "{\"sub\": \"other\"}"}"#, "is about another account"),
        (#"{"path": "/oauth/userinfo", "status": 200, "body": "a.b.c"}"#, "is no JSON object"),
    ])
    func `a sign-in counts without the claims of userinfo, and says why there are none`(
        fault: String, reason: String
    ) async throws {
        try await Self.withRule("{}", ["--scope", "openid"]) { world, url in
            let words = ["token", "--decode", url, "--claim", "userinfo.email"]
            let first = try await world.lanyard(words, world.browser(as: Self.alice))
            #expect(first.status == 0 && first.output.contains("UserInfo"), "\(first)")
            try await world.sandbox.fault(fault)
            let decoded = try await world.lanyard(words, world.browser(as: Self.alice))
            #expect(decoded.status == 0 && !decoded.output.contains("UserInfo"), "\(decoded)")
            #expect(
                decoded.errors.contains("there are no claims of userinfo: ")
                    && decoded.errors.contains(reason) && !decoded.errors.contains("\u{1B}"), "\(decoded)")
        }
    }

    @Test func `claims that are asked for come with a new sign-in, and are shown`() async throws {
        try await Self.withRule("{}", ["--scope", "openid", "--scope", "email"]) { world, url in
            let browser = world.browser(as: Self.alice)
            #expect(try await world.lanyard(["login", url], browser).status == 0)
            try await world.sandbox.clearLog()
            let decoded = try await world.lanyard(
                ["token", "--decode", url, "--claim", "userinfo.email", "--claim", "id_token.auth_time=essential"],
                browser)
            #expect(decoded.status == 0 && decoded.output.contains("ID token:\n"), "\(decoded)")
            #expect(
                decoded.output.contains("UserInfo:\n") && decoded.output.contains("alice@contoso.example"), "\(decoded)"
            )
            let pages = try await world.sandbox.requests().filter { $0.path == "/oauth/authorize" }
            #expect(pages.first?.query?["claims"]?.contains("auth_time") == true, "\(pages)")
            let listed = try await world.lanyard(["status", "--accounts", "--claims"])
            #expect(listed.output.contains("ID token of \(Self.alice) at"), "\(listed)")
            #expect(listed.output.contains("alice@contoso.example"), "\(listed)")
            let json = try await world.lanyard(["token", "--decode", "--json", url])
            #expect(json.output.contains("\"idToken\"") && json.output.contains("\"userinfo\""), "\(json)")
            // They are those of a sign-in, not of the next one.
            let again = try await world.lanyard(["login", "--json", url], browser)
            #expect(again.status == 0 && again.output.contains("\"userinfo\" : null"), "\(again)")
        }
    }
}
