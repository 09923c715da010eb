import Foundation
import TestSupport
import Testing

/// Claims requested by servers, scripts and users.
@Suite struct ClaimsTests {
    private static let alice = "alice@contoso.example"
    private static let secondProof = #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#

    /// Presents a token to the guarded repository; returns the status and the `WWW-Authenticate` headers as git passes
    /// them on.
    private func present(_ token: String?, _ world: World) async throws -> (status: String?, lines: String) {
        let file = world.folder + "/header"
        try "Authorization: Bearer \(token ?? "")\n".write(toFile: file, atomically: true, encoding: .utf8)
        let ended = try await run(
            "curl",
            [
                "--silent", "--cacert", world.sandbox.caFile, "--http1.1", "--output", "/dev/null", "--dump-header",
                "-",
                "--header", "@\(file)",
                "\(world.sandbox.resource)/contoso/guarded.git/info/refs?service=git-upload-pack",
            ], environment: world.environment)
        let headers = ended.output.split(whereSeparator: \.isNewline).map(String.init)
        let name = "www-authenticate: "
        let lines = headers.filter { $0.lowercased().hasPrefix(name) }.map { "wwwauth[]=\($0.dropFirst(name.count))\n" }
        return (headers.first?.split(separator: " ").dropFirst().first.map(String.init), lines.joined())
    }

    @Test func `a server's claims challenge is answered once, by the user, then by the refresh token`() async throws {
        try await World.with { world in
            let first = try await world.get("contoso/guarded.git", world.browser(as: Self.alice))
            let refused = try await present(first.value("password"), world)
            #expect(refused.status == "401")
            #expect(refused.lines.contains("insufficient_claims"), "\(refused)")

            // The stored token is skipped and the refresh token redeemed once; only the user can continue.
            try await world.sandbox.clearLog()
            let alone = try await world.get("contoso/guarded.git", lines: refused.lines)
            #expect(alone.status == 2 && alone.hasNoCredential, "\(alone)")
            #expect(alone.errors.contains("--claims '\(Self.secondProof)'\n"), "\(alone)")
            #expect(try await world.sandbox.authorityRequests().count(grant: "refresh_token") == 1)
            #expect(try await world.get("contoso/guarded.git").value("password") == first.value("password"))

            let second = try await world.get(
                "contoso/guarded.git", world.browser(as: Self.alice), lines: refused.lines)
            #expect(second.status == 0, "\(second)")
            #expect(try await present(second.value("password"), world).status == "200")

            // The new sign-in's token satisfies the same challenge without the user, each time.
            for _ in 0..<2 {
                try await world.sandbox.clearLog()
                let renewed = try await world.get("contoso/guarded.git", lines: refused.lines)
                #expect(renewed.status == 0, "\(renewed)")
                #expect(try await present(renewed.value("password"), world).status == "200")
                let grants = try await world.sandbox.authorityRequests().compactMap(\.grantType)
                #expect(grants == ["refresh_token"])
            }
            try await world.sandbox.clearLog()
            let stored = try await world.get("contoso/guarded.git")
            #expect(try await present(stored.value("password"), world).status == "200")
            #expect(try await world.sandbox.authorityRequests().isEmpty)
        }
    }

    @Test func `claims that git passes on as it erases the refused token are asked for next`() async throws {
        try await World.with { world in
            let browser = world.browser(as: Self.alice)
            let first = try await world.get("contoso/guarded.git", browser)
            let token = try #require(first.value("password"))
            let refused = try await present(token, world)
            let place = "url=\(world.sandbox.resource)/contoso/guarded.git\nusername=\(Self.alice)\n"
            func erase(_ token: String) async throws {
                let erased = try await world.lanyard(["erase"], input: "\(place)password=\(token)\n\(refused.lines)")
                #expect(erased.status == 0 && erased.output.isEmpty && erased.errors.isEmpty, "\(erased)")
            }
            // Rejecting a token that isn't the current one has no effect.
            try await erase("another")
            #expect(try await world.get("contoso/guarded.git").value("password") == token)
            try await erase(token)
            let alone = try await world.get("contoso/guarded.git")
            #expect(alone.status == 2, "\(alone)")
            #expect(alone.errors.contains("--claims '\(Self.secondProof)'\n"), "\(alone)")
            // Another resource doesn't require the claims.
            let graph = try await world.get("v1.0/me")
            #expect(graph.status == 0 && graph.value("password") != nil, "\(graph)")
            let second = try await world.get("contoso/guarded.git", browser)
            #expect(try await present(second.value("password"), world).status == "200", "\(second)")
            // The token only needs a renewal: the user isn't asked again.
            try await erase(try #require(second.value("password")))
            let third = try await world.get("contoso/guarded.git")
            #expect(third.status == 0 && third.value("password") != second.value("password"), "\(third)")
            #expect(try await present(third.value("password"), world).status == "200")
            // If that token is rejected immediately, too, renewing doesn't help.
            try await world.sandbox.clearLog()
            try await erase(try #require(third.value("password")))
            let last = try await world.get("contoso/guarded.git")
            #expect(last.status == 2, "\(last)")
            #expect(last.errors.contains("--claims '\(Self.secondProof)'\n"), "\(last)")
            #expect(try await world.sandbox.authorityRequests().isEmpty)
        }
    }

    @Test func `the command that the hint names signs in with the claims`() async throws {
        try await World.with { world in
            let browser = world.browser(as: Self.alice)
            let first = try await world.get("contoso/guarded.git", browser)
            let refused = try await present(first.value("password"), world)
            let alone = try await world.get("contoso/guarded.git", lines: refused.lines)
            let hint = try #require(alone.errors.split(separator: "\n").first { $0.contains("sign in: ") })
            let command = String(hint[try #require(hint.firstRange(of: "sign in: ")).upperBound...])
            let login = try await run(
                "/bin/sh", ["-c", command], environment: world.environment.merging(browser) { $1 })
            #expect(login.status == 0, "\(command)\n\(login)")
            #expect(try await present(world.get("contoso/guarded.git").value("password"), world).status == "200")
        }
    }

    @Test func `claims that are not valid are refused before anything is sent`() async throws {
        try await World.with { world in
            _ = try await world.get("contoso/guarded.git", world.browser(as: Self.alice))
            try await world.sandbox.clearLog()
            for (claims, reason) in [
                ("e30=", "it is not a JSON object"),
                (#"{"user_info":{}}"#, "`user_info` is none of id_token, userinfo and access_token"),
                (#"{"id_token":{"sub":{}}}"#, "the claim `sub` is neither null nor an object"),
            ] {
                let wrong = try await world.get("contoso/guarded.git", lines: "claims=\(claims)\n")
                #expect(wrong.status == 1 && wrong.hasNoCredential, "\(wrong)")
                #expect(
                    wrong.errors.hasPrefix("lanyard: error: the claims request is not valid: \(reason)"), "\(wrong)")
                #expect(wrong.errors.contains("\nlanyard: hint: write it like "), "\(wrong)")
            }
            let challenge = #"wwwauth[]=Bearer error="insufficient_claims", claims="ey==""#
            let server = try await world.get("contoso/guarded.git", lines: challenge + "\n")
            #expect(server.status == 1 && server.hasNoCredential, "\(server)")
            #expect(server.errors.contains("asks for claims that are not valid: it is not a JSON object"), "\(server)")
            let url = "\(world.sandbox.resource)/contoso/guarded.git"
            for command in ["token", "login"] {
                for arguments in [
                    ["--claims", "{}}"], ["--claim", "id_token.sub=wrong"], ["--claim", "user_info.sub"],
                ] {
                    let wrong = try await world.lanyard([command, url] + arguments)
                    #expect(wrong.status == 64 && wrong.output.isEmpty, "\(wrong)")
                    #expect(wrong.errors.hasPrefix("lanyard: error: the claims request is not valid: "), "\(wrong)")
                }
            }
            #expect(try await world.sandbox.authorityRequests().isEmpty)
        }
    }

    @Test func `token and login ask for the claims that options name`() async throws {
        try await World.with { world in
            let url = "\(world.sandbox.resource)/contoso/guarded.git"
            let browser = world.browser(as: Self.alice)
            let plain = try await world.lanyard(["token", url], browser)
            #expect(try await present(plain.lines.first, world).status == "401")
            let claim = ["--claim", "access_token.acrs=essential", "--claim", "access_token.acrs=value:c1"]
            let alone = try await world.lanyard(["token", url] + claim)
            #expect(alone.status == 2, "\(alone)")
            let asked = try await world.lanyard(["token", url] + claim, browser)
            #expect(asked.status == 0, "\(asked)")
            #expect(try await present(asked.lines.first, world).status == "200")
            #expect(try await world.lanyard(["logout", "--all"]).status == 0)
            let login = try await world.lanyard(["login", url, "--claims", Self.secondProof], browser)
            #expect(login.status == 0, "\(login)")
            #expect(try await present(world.lanyard(["token", url]).lines.first, world).status == "200")
        }
    }

    @Test func `the claims of ID tokens are listed with the accounts, those asked for at a renewal too`() async throws {
        try await World.with { world in
            let url = "\(world.sandbox.resource)/contoso/hello.git"
            func told() async throws -> [String: Any] {
                let listed = try await world.lanyard(["status", "--accounts", "--json"])
                #expect(!listed.output.contains("eyJ"), "\(listed)")
                let accounts = try JSONSerialization.jsonObject(with: Data(listed.output.utf8)) as? [[String: Any]]
                let tenants = try #require(accounts?.first?["tenants"] as? [[String: Any]], "\(listed)")
                let tokens = try #require(tenants.first?["idTokens"] as? [[String: Any]], "\(listed)")
                #expect(tokens.map { $0["clientId"] as? String } == [world.sandbox.clientID], "\(listed)")
                return try #require(tokens.first?["claims"] as? [String: Any], "\(listed)")
            }
            #expect(try await world.lanyard(["token", url], world.browser(as: Self.alice)).status == 0)
            let first = try await told()
            #expect(first["preferred_username"] as? String == Self.alice && first["auth_time"] is Int, "\(first)")
            // Only a sign-in's ID token has a nonce.
            #expect(first["nonce"] != nil, "\(first)")
            let renewed = try await world.lanyard(["token", url, "--claim", "id_token.auth_time=essential"])
            #expect(renewed.status == 0, "\(renewed)")
            let second = try await told()
            #expect(second["nonce"] == nil && second["auth_time"] is Int, "\(second)")
        }
    }

    @Test func `claims of the userinfo endpoint are asked for at OpenID Connect's issuers, and not at Entra`()
        async throws
    {
        let claim = ["--claim", "userinfo.email=essential"]
        try await World.with(hosts: [.gitLab]) { world in
            let login = try await world.lanyard(
                ["login", GitHost.gitLab.repository(in: world.sandbox)] + claim, world.browser(as: Self.alice))
            #expect(login.status == 0, "\(login)")
            let asked = try await GitHost.gitLab.requests(world).authority.compactMap { $0.query?["claims"] }
            #expect(asked.contains(#"{"userinfo":{"email":{"essential":true}}}"#), "\(asked)")
        }
        try await World.with { world in
            let login = try await world.lanyard(
                ["login", "\(world.sandbox.resource)/contoso/hello.git"] + claim, world.browser(as: Self.alice))
            #expect(login.status == 1 && login.errors.contains("userinfo, which Entra does not know"), "\(login)")
            #expect(try await world.sandbox.authorityRequests().isEmpty)
        }
    }

    @Test(arguments: [("common", true), ("contoso", true), ("b2c", false)])
    func `Entra is told that claims challenges are heeded, at sign-in and renewal`(
        repository: String, tells: Bool
    ) async throws {
        try await World.with { world in
            try await world.sandbox.set(#"{"access_token_lifetime": 200}"#)
            let url = "\(world.sandbox.resource)/\(repository)/hello.git"
            let browser = world.browser(as: tells ? Self.alice : "erin@example.net")
            for environment in [browser, [:]] {
                let ended = try await world.lanyard(["token", url], environment)
                let told = try #require(claims(of: ended.lines.first), "\(ended)")
                #expect((told["xms_cc"] as? [String] == ["CP1"]) == tells, "\(told)")
            }
        }
    }

    @Test func `a header maps no host`() async throws {
        try await World.with { world in
            _ = try await world.get("contoso/guarded.git", world.browser(as: Self.alice))
            try await world.sandbox.clearLog()
            let header =
                "Bearer authorization_uri=\"\(world.sandbox.authority)/contoso.example\", resource_id=\"api://sandbox-git\", "
                + #"error="insufficient_claims", claims="e30=""#
            let input = "url=https://other.example/contoso/guarded.git\nwwwauth[]=\(header)\n"
            let ended = try await world.lanyard(["get"], input: input)
            #expect(ended.status == 0 && ended.output.isEmpty, "\(ended)")
            #expect(try await world.sandbox.authorityRequests().isEmpty)
        }
    }

    @Test func `a well-known host's server chooses the tenant, and no other authority`() async throws {
        try await World.with { world in
            // A plugin that knows a host, as the first-party plugins know dev.azure.com.
            let place = try world.install(
                plugin: "hosts", script: "exit",
                manifest: """
                    [[authority]]
                    hosts = ["none.example"]
                    path = "/{realm}"
                    [[resource]]
                    name = "Repositories"
                    hosts = ["repos.example"]
                    scopes = ["api://sandbox-git/.default"]
                    """)
            try world.configure(
                before: """
                    client-id = "\(world.sandbox.clientID)"
                    authority = "\(world.sandbox.authority)/organizations"
                    """)
            let browser = world.browser(as: Self.alice).merging(place) { $1 }
            func tenant(_ header: String) async throws -> String? {
                let ended = try await world.lanyard(
                    ["get"], browser, input: "url=https://repos.example/\nwwwauth[]=\(header)\n")
                #expect(ended.status == 0, "\(ended)")
                return ended.tenant
            }
            let home = "c0a70500-0000-4000-8000-00000c0a7050"
            let guest = "fab81ca0-0000-4000-8000-0000fab81ca0"
            #expect(try await tenant("Basic realm=\"x\"") == home)
            let own = world.sandbox.authority
            #expect(try await tenant("Bearer authorization_uri=\(own)/fabrikam.example") == guest)
            #expect(try await tenant("Bearer authorization_uri=\"\(own)/\(guest)/oauth2/authorize\"") == guest)
            for other in [
                "https://login.evil.example/\(guest)", "http\(own.dropFirst(5))/\(guest)", "\(own)/consumers",
                "\(own)/tfp/fabrikam.example",
            ] {
                #expect(try await tenant("Bearer authorization_uri=\"\(other)\"") == home, "\(other)")
            }
        }
    }
}
