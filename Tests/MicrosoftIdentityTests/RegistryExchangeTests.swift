import Addresses
import AuthorityFixture
import PluginWire
import Secrets
import Testing

@testable import MicrosoftIdentity

/// What a registry answers if it is asked for a token of its own.
struct RegistryExchangeTests {
    private static let client = MicrosoftPlugin(
        AuthorityProfile(name: "aad-tenant", kind: .aad, exchanges: true), environment: [:])

    /// Has a token exchanged at a registry that answers so.
    private static func exchange(_ status: Int, _ body: String) async throws -> PluginCredential {
        let head = "HTTP/1.1 \(status) X\r\ndate: Sun, 06 Nov 1994 08:49:37 GMT\r\ncontent-length: \(body.utf8.count)"
        var credential: Result<PluginCredential, PluginError>?
        try await TLSServer.run(.host("localhost"), { _ in .answer(head + "\r\n\r\n" + body) }) { server in
            var request = PluginRequest(.exchange)
            request.authority = "https://login.microsoftonline.com/contoso.com"
            request.clientID = "c"
            request.exchange = RegistryExchange.name
            request.audience = "localhost:\(server.port)"
            request.accessToken = Secret("AT")
            request.network.caFiles = [server.caFile]
            do throws(PluginError) {
                credential = .success(try await client.exchange(request))
            } catch {
                credential = .failure(error)
            }
        }
        return try #require(credential).get()
    }

    @Test(arguments: [
        ("784115377", 3600), ("784115377.5", 3600), ("1e300", 315_360_000), ("-9.2e18", 0), ("-1e300", 0),
        ("\"soon\"", 3600),
    ])
    func `no end that a token names is too far away`(_ end: String, _ lifetime: Int) async throws {
        let claims = Base64URL.encode(#"{"exp":\#(end)}"#.utf8)
        let credential = try await Self.exchange(200, #"{"refresh_token":"e30.\#(claims).x"}"#)
        #expect(credential.expiresIn == lifetime)
    }

    @Test(arguments: [("UNAUTHORIZED", "UNAUTHORIZED"), ("no code", nil)])
    func `a refusal reaches the host, its code if it is one`(_ code: String, _ told: String?) async throws {
        let error = try await #require(throws: PluginError.self) {
            try await Self.exchange(401, #"{"errors":[{"code":"\#(code)","message":"m"}]}"#)
        }
        #expect(error.code == .interactionRequired && error.error == told)
        #expect(try PluginError(WireReader(error.wire())) == error)
    }
}
