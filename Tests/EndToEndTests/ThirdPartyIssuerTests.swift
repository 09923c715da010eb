import Foundation
import TestSupport
import Testing

/// Sign-ins at third-party OpenID Connect issuers.
@Suite(.serialized, .enabled(if: ThirdPartyIssuer.programs != nil, "there are none: script/get issuers says why"))
struct ThirdPartyIssuerTests {
    private static let url = "https://git.example/hello.git"

    /// Runs the body in a home with a keyring and a rule for an issuer.
    private static func with(
        _ kind: ThirdPartyIssuer.Kind, _ body: @escaping @Sendable (Home, ThirdPartyIssuer) async throws -> Void
    ) async throws {
        let issuer = try await ThirdPartyIssuer.shared(kind)
        try await Home.with(.unlocked) { home in
            try home.write(
                """
                ca-file = "\(issuer.caFile)"
                [[rule]]
                url = "https://git.example"
                authority = "\(issuer.issuer)"
                kind = "oidc"
                client-id = "\(issuer.clientID)"
                scopes = ["email"]
                \(issuer.redirectPort.map { "redirect-port = \($0)" } ?? "")

                """, to: home.configFile)
            try await body(home, issuer)
        }
    }

    @Test(arguments: ThirdPartyIssuer.Kind.allCases)
    func `a sign-in in a browser is renewed again and again, and ends`(kind: ThirdPartyIssuer.Kind) async throws {
        try await Self.with(kind) { home, issuer in
            let login = try await home.lanyard(["login", Self.url], ["BROWSER": issuer.browser])
            try #require(login.status == 0, "\(login)")
            #expect(try await Self.usernames(home) == [issuer.shownName])
            var tokens: Set = [try await Self.token(home, issuer)]
            var refreshTokens: Set = [try await storedToken("refreshtoken", home.environment)]
            for _ in 0..<2 {
                let cleared = try await secretTool(["clear", "kind", "accesstoken"], environment: home.environment)
                #expect(cleared.status == 0, "\(cleared)")
                tokens.insert(try await Self.token(home, issuer))
                refreshTokens.insert(try await storedToken("refreshtoken", home.environment))
            }
            #expect(tokens.count == 3)
            #expect(refreshTokens.count == 3, "each is good once")
            let status = try await home.lanyard(["status", Self.url])
            #expect(status.status == 0 && status.output.contains("as \(issuer.shownName)"), "\(status)")
        }
    }

    @Test(.enabled(if: Clients.folder != nil), arguments: ThirdPartyIssuer.Kind.allCases)
    func `a cluster that verifies ID tokens takes those of real issuers`(kind: ThirdPartyIssuer.Kind) async throws {
        try await Self.with(kind) { home, issuer in
            try await OIDCCluster.serve(
                in: home.folder + "/cluster", issuer: issuer.issuer, client: issuer.clientID, caFile: issuer.caFile
            ) { cluster in
                let file = try home.text(home.configFile)
                try home.write(
                    file.replacing("https://git.example", with: cluster.url) + "token = \"id\"\n", to: home.configFile)
                let login = try await home.lanyard(["login", cluster.url], ["BROWSER": issuer.browser])
                try #require(login.status == 0, "\(login)")
                let asked = try await cluster.whoami(home.environment, lanyard: home.folder + "/bin/lanyard")
                #expect(asked.status == 0 && asked.output.contains("\"sub\""), "\(asked) \(cluster.refusals)")
            }
        }
    }

    private static let applications: [(ThirdPartyIssuer.Kind, String, String?)] = [
        (.glewlwyd, "robot-basic", "correct-horse"), (.glewlwyd, "robot-post", "correct+horse/battery=staple"),
        (.glewlwyd, "robot-key", nil), (.glewlwyd, "robot-curve", nil),
        (.canaille, "robot-basic", "correct-horse"), (.canaille, "robot-odd", "correct+horse/battery=staple"),
    ]

    @Test(arguments: applications)
    func `an application signs in with its secret, in the header or the form, or with its key`(
        kind: ThirdPartyIssuer.Kind, client: String, secret: String?
    ) async throws {
        let issuer = try await ThirdPartyIssuer.shared(kind)
        try await Home.with(.unlocked) { home in
            let key = URL(fileURLWithPath: issuer.caFile).deletingLastPathComponent().path + "/\(client).key"
            try home.write(
                """
                ca-file = "\(issuer.caFile)"
                [[identity]]
                name = "robot"
                authority = "\(issuer.issuer)"
                kind = "oidc"
                client-id = "\(client)"
                \(secret == nil ? "certificate = \"\(key)\"" : "secret-variable = \"ROBOT_SECRET\"")
                [[rule]]
                url = "https://git.example"
                identity = "robot"
                scopes = ["email"]

                """, to: home.configFile)
            let token = try await home.lanyard(["token", Self.url], ["ROBOT_SECRET": secret ?? ""])
            #expect(token.status == 0 && token.lines.count == 1, "\(token) \(issuer.lastOutput)")
            guard secret != nil else { return }
            let wrong = try await home.lanyard(["identity", "check", "robot", Self.url], ["ROBOT_SECRET": "wrong"])
            // glewlwyd gives no reason.
            #expect(wrong.status == 1 && wrong.errors.contains("the authority refuses: "), "\(wrong)")
            let advice = "check the client ID \(client), and what proves it: the client secret in ROBOT_SECRET"
            #expect(wrong.errors.contains(advice), "\(wrong)")
        }
    }

    @Test(arguments: ThirdPartyIssuer.Kind.allCases)
    func `signing out gives the tokens back and shows the page that ends the session`(
        kind: ThirdPartyIssuer.Kind
    ) async throws {
        try await Self.with(kind) { home, issuer in
            let login = try await home.lanyard(["login", Self.url], ["BROWSER": issuer.browser])
            try #require(login.status == 0, "\(login)")
            let refreshToken = try await storedToken("refreshtoken", home.environment)
            let logout = try await home.lanyard(["logout", "--browser"])
            #expect(logout.errors.hasPrefix("lanyard: signed out \(issuer.shownName)\n"), "\(logout)")
            #expect(try await Self.usernames(home).isEmpty)
            #expect(try await home.lanyard(["token", Self.url]).status == 2)

            let document = try await Self.curl(issuer, issuer.issuer + "/.well-known/openid-configuration")
            let page = document["end_session_endpoint"] as? String
            #expect(logout.status == 0, "\(logout)")
            #expect(logout.errors.contains("\(page ?? "https://")?id_token_hint=") == (page != nil), "\(logout)")

            // Some take tokens back from clients only that prove themselves, which is no reason to keep them here.
            let isTold = logout.errors.contains("did not revoke the tokens: ")
            #expect(isTold == !issuer.takesTokensBack, "\(logout)")
            guard issuer.takesTokensBack else { return }
            let refused = try await Self.curl(
                issuer, document["token_endpoint"] as? String ?? "", ["--data", "@-"],
                input: "grant_type=refresh_token&client_id=\(issuer.clientID)&refresh_token=\(refreshToken)")
            #expect(refused["error"] as? String == "invalid_grant", "\(refused)")
        }
    }

    @Test(arguments: ThirdPartyIssuer.Kind.allCases.filter { $0 != .canaille })
    func `a device code signs in`(kind: ThirdPartyIssuer.Kind) async throws {
        try await Self.with(kind) { home, issuer in
            // Wide enough for every URL to fit on a line.
            let terminal = try PseudoTerminal(columns: 200, rows: 60)
            let ended = try await terminal.run(
                "\(home.folder)/bin/lanyard", ["login", "--flow", "device-code", Self.url],
                environment: home.environment
            ) { terminal in
                try await terminal.sees("code=")
                let page = try #require(terminal.lines.first { $0.contains("code=") })
                let typed = try await issuer.approve(at: page)
                #expect(typed.status == 0, "\(typed)")
            }
            #expect(ended.status == 0, "\(ended) \(terminal.text)")
            #expect(try await Self.usernames(home) == [issuer.shownName])
            #expect(try await home.lanyard(["logout"]).status == 0)
        }
    }

    @Test(arguments: [ThirdPartyIssuer.Kind.canaille])
    func `headless Chromium signs in on the real page`(kind: ThirdPartyIssuer.Kind) async throws {
        try await Self.with(kind) { home, issuer in
            let shots = home.folder + "/shots"
            try FileManager.default.createDirectory(atPath: shots, withIntermediateDirectories: true)
            let browser = "'\(Built.chromium)' \(issuer.username) \(issuer.password) \(shots)"
            let login = try await run(
                "\(home.folder)/bin/lanyard", ["login", Self.url],
                environment: home.environment.merging(["BROWSER": browser]) { $1 }, timeout: .seconds(300))
            #expect(login.status == 0, "\(login)")
            #expect(try await Self.usernames(home) == [issuer.shownName])
        }
    }

    // MARK: What lanyard has and says

    private static func usernames(_ home: Home) async throws -> [String] {
        let listed = try await home.lanyard(["status", "--accounts", "--json"])
        let accounts = try JSONSerialization.jsonObject(with: Data(listed.output.utf8)) as? [[String: Any]]
        return try #require(accounts, "\(listed)").map { $0["username"] as? String ?? "" }
    }

    private static let withoutMemory = ["LANYARD_ANSWER_CACHE": "0"]

    /// Returns a token without the user, and without a cached answer.
    ///
    /// Canaille fails if it would issue two tokens in the same second.
    private static func token(_ home: Home, _ issuer: ThirdPartyIssuer) async throws -> String {
        var ended = try await home.lanyard(["token", url], withoutMemory)
        for _ in 0..<10 where ended.errors.contains("(HTTP 500)") {
            try await Task.sleep(for: .milliseconds(1100))
            ended = try await home.lanyard(["token", url], withoutMemory)
        }
        try #require(ended.status == 0, "\(ended) \(issuer.lastOutput)")
        return try #require(ended.lines.first)
    }

    private static func curl(
        _ issuer: ThirdPartyIssuer, _ url: String, _ options: [String] = [], input: String = ""
    ) async throws -> [String: Any] {
        let ended = try await run(
            "curl", ["--silent", "--show-error", "--max-time", "60", "--cacert", issuer.caFile, url] + options,
            input: input, environment: ["PATH": Programs.folder])
        let json = try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: Any]
        return try #require(json, "\(ended)")
    }
}
