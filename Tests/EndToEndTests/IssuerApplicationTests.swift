import Foundation
import TestSupport
import Testing

/// Applications at issuers of the plugin `oauth`.
@Suite struct IssuerApplicationTests {
    @Test func `an application signs in with its secret, and one request serves all`() async throws {
        try await World.with { world in
            let issuer = world.sandbox.issuer
            let client = try #require(issuer.confidentialClientID)
            try world.configure(
                after: """
                    [[identity]]
                    name = "bot"
                    authority = "\(issuer.url)"
                    kind = "oidc"
                    client-id = "\(client)"
                    secret-variable = "BOT_SECRET"

                    [[rule]]
                    url = "\(issuer.url)"
                    identity = "bot"
                    scopes = ["read_repository"]

                    """)
            let secret = ["BOT_SECRET": issuer.clientSecret]
            try await world.sandbox.clearLog()
            let token = try await world.lanyard(["token", issuer.url], secret)
            #expect(token.status == 0 && token.lines.count == 1, "\(token)")
            let again = try await world.lanyard(["token", issuer.url], secret)
            #expect(again.output == token.output, "\(again)")
            let asked = try await world.sandbox.requests().filter { $0.method == "POST" }
            #expect(asked.map(\.grantType) == ["client_credentials"], "\(asked)")
            #expect(asked.first?.form?["scope"] == "read_repository")
            let wrong = try await world.lanyard(["token", "--claims", "{}", issuer.url], ["BOT_SECRET": "wrong"])
            #expect(wrong.status == 0, "a stored token is handed out: \(wrong)")
            let check = try await world.lanyard(["identity", "check", "bot", issuer.url], ["BOT_SECRET": "wrong"])
            #expect(check.status == 1 && check.errors.contains("the authority refuses"), "\(check)")
            let id = try await world.lanyard(["token", "--id-token", issuer.url], secret)
            #expect(id.status == 1 && id.errors.contains("the identity bot has no ID token"), "\(id)")
        }
    }
}
