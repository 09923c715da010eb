import Crypto
import CryptoExtras
import Foundation
import JWTKit
import TestSupport
import Testing

/// Applications that get tokens by themselves, and the sandbox's refusals, which match Entra's.
@Suite struct ApplicationTests {
    /// Sends a token request with the test's changes.
    private static func ask(
        _ sandbox: RunningSandbox, at tenant: String = "contoso.example", _ changes: [String: String]
    ) async throws -> RunningSandbox.Answer {
        let form = [
            "grant_type": "client_credentials", "client_id": sandbox.description.application.clientID,
            "scope": "api://sandbox-git/.default",
        ].merging(changes) { $1 }
        return try await sandbox.post(
            endpoint(sandbox, tenant), form.filter { !$0.value.isEmpty })
    }

    private static func endpoint(_ sandbox: RunningSandbox, _ tenant: String = "contoso.example") -> String {
        "\(sandbox.authority)/\(tenant)/oauth2/v2.0/token"
    }

    private static func refusal(_ answer: RunningSandbox.Answer) -> Int? {
        #expect(answer.status >= 400 && answer.text("access_token") == nil)
        return (answer["error_codes"] as? [Int])?.first
    }

    @Test func `a secret gets a token that opens a repository, and nothing to renew it by`() async throws {
        try await withSandbox { sandbox in
            let secret = sandbox.description.application.secret
            let answer = try await Self.ask(sandbox, ["client_secret": secret])
            #expect(Set(answer.json.keys) == ["token_type", "expires_in", "ext_expires_in", "access_token"])
            let token = answer.text("access_token") ?? ""
            #expect(claims(of: token)["idtyp"] as? String == "app")
            let listed = try await Program.git(
                ["ls-remote", "\(sandbox.resource)/contoso/hello.git"], sandbox: sandbox, token: "Bearer \(token)")
            #expect(listed.succeeded, "\(listed)")
            let log = try await sandbox.control("GET", "log").body
            #expect(!log.contains(secret) && log.contains("lanyard sandbox pipeline"))
        }
    }

    @Test func `a request that Entra refuses is refused with its number`() async throws {
        try await withSandbox { sandbox in
            let proof = ["client_secret": sandbox.description.application.secret]
            for (tenant, changes, number) in [
                ("contoso.example", ["client_secret": "wrong"], 7_000_215),
                ("contoso.example", ["client_secret": ""], 7_000_218),
                ("contoso.example", ["client_id": "a9911ca7-0000-4000-8000-000000000000"], 700_016),
                ("contoso.example", ["client_id": sandbox.clientID], 700_016), ("fabrikam.example", [:], 700_016),
                ("contoso.example", ["scope": "api://sandbox-git/Repo.Read"], 1_002_012),
                (
                    "contoso.example", ["scope": "api://sandbox-git/.default https://graph.microsoft.com/.default"],
                    1_002_012
                ),
                ("contoso.example", ["scope": "api://nothing/.default"], 500_011),
                ("contoso.example", ["scope": ""], 900_144), ("common", [:], 50059), ("organizations", [:], 50059),
            ] {
                let answer = try await Self.ask(sandbox, at: tenant, proof.merging(changes) { $1 })
                #expect(Self.refusal(answer) == number, "\(tenant) \(changes) \(answer.body)")
            }
            try await sandbox.control("POST", "settings", #"{"expired_secrets":1}"#)
            #expect(Self.refusal(try await Self.ask(sandbox, proof)) == 7_000_222)
        }
    }

    // MARK: Certificates

    private struct Own: JWTPayload {
        var aud: String
        var iss: String
        var sub: String
        var jti: String? = UUID().uuidString
        var nbf = Int(Date.now.timeIntervalSince1970)
        var exp = Int(Date.now.timeIntervalSince1970) + 600

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    private static func certificate(_ sandbox: RunningSandbox) throws -> (
        key: JWTKit.Insecure.RSA.PrivateKey, der: Data
    ) {
        let pem = try String(contentsOfFile: sandbox.description.application.certificate, encoding: .utf8)
        let start = try #require(pem.range(of: "-----BEGIN CERTIFICATE-----"))
        let end = try #require(pem.range(of: "-----END CERTIFICATE-----"))
        let base64 = pem[start.upperBound..<end.lowerBound].filter { !$0.isNewline }
        let der = try #require(Data(base64Encoded: String(base64)))
        return (try JWTKit.Insecure.RSA.PrivateKey(pem: String(pem[..<start.lowerBound])), der)
    }

    private static func base64URL(_ digest: some Sequence<UInt8>) -> String {
        Data(digest).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static func own(
        _ sandbox: RunningSandbox, isOlder: Bool = false, key: JWTKit.Insecure.RSA.PrivateKey? = nil,
        _ change: (inout Own) -> Void = { _ in }
    ) async throws -> [String: String] {
        let (ownKey, der) = try certificate(sandbox)
        let client = sandbox.description.application.clientID
        var payload = Own(aud: endpoint(sandbox), iss: client, sub: client)
        change(&payload)
        var header = JWTHeader()
        header.typ = "JWT"
        let keys = JWTKeyCollection()
        if isOlder {
            header.x5t = base64URL(Crypto.Insecure.SHA1.hash(data: der))
            await keys.add(rsa: key ?? ownKey, digestAlgorithm: .sha256)
        } else {
            header.x5tS256 = base64URL(SHA256.hash(data: der))
            await keys.add(pss: key ?? ownKey, digestAlgorithm: .sha256)
        }
        return [
            "client_assertion": try await keys.sign(payload, header: header),
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        ]
    }

    @Test func `an assertion of the certificate is good once, here, now and in today's form only`() async throws {
        try await withSandbox { sandbox in
            let good = try await Self.own(sandbox)
            #expect(try await Self.ask(sandbox, good).text("access_token") != nil)
            let other = try JWTKit.Insecure.RSA.PrivateKey(backing: _RSA.Signing.PrivateKey(keySize: .bits2048))
            let cases: [(Int, [String: String])] = try await [
                (700_025, good), (700_027, Self.own(sandbox, isOlder: true)), (700_027, Self.own(sandbox, key: other)),
                (700_023, Self.own(sandbox) { $0.aud = Self.endpoint(sandbox, "fabrikam.example") }),
                (700_021, Self.own(sandbox) { $0.sub = "somebody" }), (700_025, Self.own(sandbox) { $0.jti = nil }),
                (700_024, Self.own(sandbox) { $0.exp -= 2000 }), (700_024, Self.own(sandbox) { $0.nbf += 2000 }),
                (50027, good.merging(["client_assertion": "A.B"]) { $1 }),
                (900_144, good.merging(["client_assertion_type": "password"]) { $1 }),
            ]
            for (number, form) in cases {
                let answer = try await Self.ask(sandbox, form)
                #expect(Self.refusal(answer) == number, "\(answer.body)")
            }
            let issuer = try await Self.own(sandbox) {
                $0.aud = "\(sandbox.authority)/c0a70500-0000-4000-8000-00000c0a7050/v2.0"
            }
            #expect(try await Self.ask(sandbox, issuer).text("access_token") != nil)
        }
    }

    // MARK: Federation

    private static func federated(_ sandbox: RunningSandbox, _ claims: String) async throws -> [String: String] {
        let answer = try await sandbox.control("POST", "assertion", claims)
        return [
            "client_assertion": try #require(answer.text("assertion")),
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        ]
    }

    @Test func `an assertion of somebody else's must match a federated credential letter for letter`() async throws {
        try await withSandbox { sandbox in
            #expect(try await Self.ask(sandbox, Self.federated(sandbox, "{}")).text("access_token") != nil)
            let now = Int(Date.now.timeIntervalSince1970)
            for (claims, number) in [
                (#"{"sub":"repo:contoso/other:ref:refs/heads/main"}"#, 700_213),
                (#"{"sub":"Repo:contoso/hello:ref:refs/heads/main"}"#, 7_002_138), (#"{"sub":null}"#, 700_213),
                (#"{"iss":"\#(sandbox.authority)/_actions/"}"#, 700_211), (#"{"iss":"https://evil.example"}"#, 700_211),
                (#"{"aud":"api://azureadtokenexchange"}"#, 700_212),
                (#"{"aud":"https://github.com/contoso"}"#, 700_212),
                (#"{"exp":\#(now - 400)}"#, 700_024), (#"{"nbf":\#(now + 400)}"#, 700_024),
                (#"{"exp":\#(now + 90_000)}"#, 70023),
            ] {
                let answer = try await Self.ask(sandbox, Self.federated(sandbox, claims))
                #expect(Self.refusal(answer) == number, "\(claims) \(answer.body)")
            }
            let forged = try await Self.own(sandbox) {
                $0 = Own(
                    aud: "api://AzureADTokenExchange", iss: "\(sandbox.authority)/_actions",
                    sub: "repo:contoso/hello:ref:refs/heads/main")
            }
            #expect(Self.refusal(try await Self.ask(sandbox, forged)) == 700_211)
        }
    }

    @Test func `a job gets an assertion with its own token, for the audience that it names`() async throws {
        try await withSandbox { sandbox in
            let application = sandbox.description.application
            let job = ["Authorization": "Bearer \(application.requestToken)"]
            let url = application.requestURL
            let answer = try await sandbox.get(url + "&audience=api%3A%2F%2Fit", headers: job)
            #expect(claims(of: answer.text("value") ?? "")["aud"] as? String == "api://it")
            #expect(try await sandbox.get(url, headers: job).status == 400)
            #expect(try await sandbox.get(url + "&audience=a", headers: ["Authorization": "Bearer no"]).status == 401)
            #expect(try await sandbox.get(url + "&audience=a").status == 401)
        }
    }
}
