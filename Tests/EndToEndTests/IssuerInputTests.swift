import Foundation
import JSON
import TestSupport
import Testing
import Vectors

/// Issuers whose answers are invalid, or come from someone else.
@Suite struct IssuerInputTests {
    private static let alice = "alice_contoso"
    private static let bob = "bob_contoso"

    /// Runs the body in a world with a rule for the sandbox's issuer, whose metadata is fetched, and where Alice is
    /// signed in.
    private static func withAlice(
        lifetime: Int = 3600, _ body: @escaping @Sendable (World, String) async throws -> Void
    ) async throws {
        try await World.with { world in
            let issuer = world.sandbox.issuer
            try world.configure(before: "timeout = 10")
            try world.configureIssuer(scopes: ["read_repository"], "kind = \"oidc\"")
            try await world.sandbox.set(#"{"access_token_lifetime": \#(lifetime)}"#)
            let url = issuer.url + "/contoso/hello.git"
            let login = try await world.lanyard(["login", url], world.browser(as: alice))
            try #require(login.status == 0, "\(login)")
            try await body(world, url)
            try await world.sandbox.clearFaults()
            // Nothing was lost, and the answers had no effect.
            #expect(try await AccountChoiceTests.accounts(world).map { $0["username"] as? String } == [alice])
            let after = try await world.get(issuer: url)
            #expect(after.status == 0 && after.value("password") != nil, "\(after)")
        }
    }

    /// Expects one error with a remedy, and no secret of any sign-in.
    private static func expect(_ ended: Ended, says text: String, _ world: World, _ name: String) async throws {
        #expect(ended.status == 1 && ended.hasNoCredential, "\(name): \(ended)")
        let errors = ended.errors.split(separator: "\n").filter { $0.hasPrefix("lanyard: error: ") }
        #expect(errors.count == 1 && errors.allSatisfy { $0.contains(text) }, "\(name): \(ended)")
        for kind in ["refreshtoken", "accesstoken"] {
            let secret = try await world.stored(kind)
            #expect(!ended.errors.contains(secret), "\(name)")
        }
        #expect(!ended.errors.contains("?code=") && !ended.errors.contains("made-up"), "\(name): \(ended)")
    }

    /// Returns a fault in the sandbox's format.
    private static func fault(_ members: [String: JSONValue]) -> String { JSONValue.object(members).encodedText }

    // MARK: Discovery

    /// The messages about a document, by the vectors' reason.
    private static let reasons = [
        "missing-endpoint": " that is https", "issuer-missing": "does not say which issuer it is",
        "issuer-mismatch": "names another issuer: ", "not-json": "is not an OpenID configuration",
        "http-status": "(HTTP 500)",
    ]

    private static let documents = OAuthVectors.followed("discovery").filter { vector in
        vector.text("authority") == "https://id.example.com" && vector.expected("outcome") == "error"
    }

    /// Returns the faults that make an issuer send a vector's metadata wherever it may be.
    private static func answering(_ vector: VectorCase, at issuer: String) -> [String] {
        let answer = vector.input["answers"]?.elements.first?.members ?? [:]
        let text = vector.input["document"]?.encodedText ?? answer["body"]?.string ?? ""
        return ["openid-configuration", "oauth-authorization-server"].map { name in
            fault([
                "path": .string("/.well-known/\(name)"), "status": answer["status"] ?? .integer(200),
                "body": .string(text.replacing("https://id.example.com", with: issuer)),
                "content_type": answer["content_type"] ?? "application/json",
            ])
        }
    }

    @Test func `faulty metadata ends a sign-in before a page opens`() async throws {
        #expect(Self.documents.count > 10)
        try await Self.withAlice { world, url in
            let opened = world.folder + "/opened"
            for vector in Self.documents {
                for fault in Self.answering(vector, at: world.sandbox.issuer.url) {
                    try await world.sandbox.fault(fault)
                }
                let login = try await world.lanyard(
                    ["login", url, "--account", Self.bob], ["BROWSER": "touch \(opened)"])
                let reason = try #require(Self.reasons[vector.expected("reason") ?? ""], "\(vector)")
                try await Self.expect(login, says: reason, world, vector.id)
                try await world.sandbox.clearFaults()
            }
            #expect(!FileManager.default.fileExists(atPath: opened))
        }
    }

    @Test func `an issuer that is asked without TLS, or by another name, is none`() async throws {
        try await Self.withAlice { world, url in
            let rules = try String(contentsOfFile: world.configFile, encoding: .utf8)
            let issuer = world.sandbox.issuer.url
            let plain = rules.replacing("authority = \"\(issuer)\"", with: "authority = \"http://issuer.example\"")
            try plain.write(toFile: world.configFile, atomically: true, encoding: .utf8)
            let login = try await world.lanyard(["login", url], world.browser(as: Self.bob))
            #expect(login.status == 1 && login.errors.contains("`authority` must be an https URL"), "\(login)")
            let other = rules.replacing("authority = \"\(issuer)\"", with: "authority = \"\(issuer)/other\"")
            try other.write(toFile: world.configFile, atomically: true, encoding: .utf8)
            let nobody = try await world.lanyard(["login", url], world.browser(as: Self.bob))
            try await Self.expect(nobody, says: "there is no issuer at \(issuer)/other", world, "other")
            try rules.write(toFile: world.configFile, atomically: true, encoding: .utf8)
        }
    }

    // MARK: Answers to a renewal

    @Test func `a renewal that is refused without a word leads to a sign-in, and costs nothing`() async throws {
        try await Self.withAlice(lifetime: 2) { world, url in
            try await Task.sleep(for: .seconds(3))
            try await world.sandbox.fault(Self.fault(["path": "/oauth/token", "status": 401, "body": ""]))
            let got = try await world.get(issuer: url)
            #expect(got.hasNoCredential && got.errors.contains("no reason given (HTTP 401)"), "\(got)")
            #expect(got.errors.contains("lanyard login \(url)") && !got.errors.contains("client ID"), "\(got)")
            try await world.sandbox.clearFaults()
            let login = try await world.lanyard(["login", url], world.browser(as: Self.alice))
            #expect(login.status == 0, "\(login)")
        }
    }

    // MARK: Answers to a sign-in

    private static let forgeries: [(name: String, fault: [String: JSONValue], error: String, hint: String)] = [
        (
            "a foreign iss", ["path": "/oauth/authorize", "issuer": "https://evil.example"], "is not from localhost",
            foreign
        ),
        ("no iss", ["path": "/oauth/authorize", "issuer": ""], "is not from localhost", "doesn't name its issuer"),
        (
            "a foreign state", ["path": "/oauth/authorize", "state": "another"], "nobody signed in within 10 seconds",
            ""
        ),
        (
            "a foreign nonce", ["path": "/oauth/token", "nonce": "another"], "the ID token belongs to another sign-in",
            "sign in again"
        ),
        (
            "a foreign ID token", ["path": "/oauth/token", "issuer": "https://evil.example"],
            "names a different issuer",
            foreign
        ),
        (
            "a redirect", ["path": "/oauth/token", "status": 307, "headers": ["Location": "https://evil.example/"]],
            "(HTTP 307)", ""
        ),
        (
            "an answer that breaks off", ["path": "/oauth/token", "truncate": true], "before its answer was complete",
            ""
        ),
    ]
    private static let foreign = "check the rule's authority: what answered calls itself https://evil.example\n"

    @Test func `forged answers sign nobody in`() async throws {
        try await Self.withAlice { world, url in
            for forgery in Self.forgeries {
                try await world.sandbox.fault(Self.fault(forgery.fault))
                let login = try await world.lanyard(
                    ["login", url, "--account", Self.bob], world.browser(as: Self.bob))
                try await Self.expect(login, says: forgery.error, world, forgery.name)
                #expect(forgery.hint.isEmpty || login.errors.contains(forgery.hint), "\(forgery.name): \(login)")
                try await world.sandbox.clearFaults()
            }
        }
    }

    @Test func `a dead refresh token is answered with one hint: how to sign in`() async throws {
        try await Self.withAlice(lifetime: 0) { world, url in
            try await world.sandbox.fault(
                Self.fault([
                    "path": "/oauth/token", "status": 400, "body": #"{"error":"invalid_grant"}"#,
                    "content_type": "application/json",
                ]))
            let got = try await world.get(issuer: url)
            let hints = got.errors.split(separator: "\n").filter { $0.hasPrefix("lanyard: hint: ") }
            #expect(got.status == 2 && hints.count == 1, "\(got)")
            #expect(hints.first?.contains("sign in: lanyard login \(url)") == true, "\(got)")
            try await world.sandbox.clearFaults()
            let login = try await world.lanyard(["login", url], world.browser(as: Self.alice))
            #expect(login.status == 0, "\(login)")
        }
    }

    private static let answers = OAuthVectors.followed("token-response").filter {
        $0.expected("outcome") == "error" && $0.input["kind"] == nil
    }

    /// Returns a fault that makes the token endpoint send a vector's answer.
    private static func answering(_ vector: VectorCase) -> String {
        let text = vector.input["json"]?.encodedText ?? vector.text("body") ?? ""
        return fault([
            "path": "/oauth/token", "status": 200,
            "body": .string(text.replacing("\"at\"", with: "\"made-up\"").replacing("=at&", with: "=made-up&")),
            "content_type": .string(vector.text("content_type") ?? "application/json"),
        ])
    }

    @Test func `malformed token responses sign nobody in, and lose no refresh token`() async throws {
        #expect(Self.answers.count > 5)
        try await Self.withAlice(lifetime: 0) { world, url in
            let refreshToken = try await world.stored("refreshtoken")
            for vector in Self.answers {
                try await world.sandbox.fault(Self.answering(vector))
                let login = try await world.lanyard(
                    ["login", url, "--account", Self.bob], world.browser(as: Self.bob))
                try await Self.expect(login, says: "localhost:", world, vector.id)
                try await world.sandbox.clearLog()
                let end = ContinuousClock.now + .seconds(120)
                // For a few seconds, a renewal that failed isn't requested again.
                while try await world.sandbox.requests().renewals.isEmpty, ContinuousClock.now < end {
                    let renewal = try await world.get(issuer: url)
                    try await Self.expect(renewal, says: "localhost:", world, "\(vector.id), renewal")
                    try await Task.sleep(for: .milliseconds(100))
                }
                #expect(try await !world.sandbox.requests().renewals.isEmpty, "\(vector.id)")
                #expect(try await world.stored("refreshtoken") == refreshToken, "\(vector)")
                try await world.sandbox.clearFaults()
            }
            // The last failure counts for a few seconds, too.
            let end = ContinuousClock.now + .seconds(60)
            while try await world.get(issuer: url).status != 0, ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }
}

extension World {
    /// Runs `lanyard get` for a URL, as git does.
    func get(issuer url: String, _ extra: [String: String] = [:]) async throws -> Ended {
        try await lanyard(["get"], extra, input: "url=\(url)\n")
    }
}
