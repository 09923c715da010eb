import AuthorityFixture
import JSON
import PluginWire
import Secrets
import Testing
import Vectors

@testable import OAuth
@testable import OpenIDConnect

/// The tokens that an issuer revokes at a sign-out.
struct RevocationTests {
    private static let plugin = IssuerPlugin(environment: [:])

    @Test func `a token that was taken back renews nothing`() async throws {
        try await ScriptedIssuer.run { issuer, server in
            var request = issuer.request(.revoke, at: server)
            request.refreshToken = Secret("the-first")
            try await Self.plugin.revoke(request)
            request.operation = .renew
            let renewal = request
            let error = await #expect(throws: PluginError.self) { try await Self.plugin.renew(renewal) }
            #expect(error?.reasons == [.deadToken])
            #expect(issuer.asked.prefix(2) == ["/.well-known/openid-configuration", "/revoke"])
        }
    }

    @Test func `an issuer that takes none back isn't asked to`() async throws {
        var script = ScriptedIssuer.Script()
        script.document = ["revocation_endpoint": .null]
        try await ScriptedIssuer.run(script) { issuer, server in
            var request = issuer.request(.revoke, at: server)
            request.refreshToken = Secret("the-first")
            try await Self.plugin.revoke(request)
            #expect(issuer.asked == ["/.well-known/openid-configuration"])
        }
    }

    @Test(arguments: OAuthVectors.followed("revocation").filter { $0.input["status"] != nil })
    func `what the issuer answers is told`(_ vector: VectorCase) async throws {
        try await Issuing.serving({ _ in Issuing.behaviour(vector.input) }) { server in
            var session = try Issuing.session(vector, operation: .revoke, at: server)
            session.metadata.endpoints.revocation = "https://localhost:\(server.port)/revoke"
            do throws(PluginError) {
                try await session.revoke(Secret("rt"))
                #expect(vector.expect["warning"] == nil)
            } catch {
                // The host has already removed the token, and only reports the failure.
                #expect(vector.expect["warning"] == .bool(true))
            }
            #expect(
                server.requests.map(Issuing.form) == [
                    ["token": "rt", "token_type_hint": "refresh_token", "client_id": "c"]
                ])
        }
    }

    @Test(arguments: OAuthVectors.followed("revocation").filter { $0.expect["requests"] != nil })
    func `a kind without such an endpoint is sent nothing`(_ vector: VectorCase) async throws {
        try await Issuing.serving({ _ in TLSServer.nothingHere }) { server in
            let session = try Issuing.session(vector, operation: .revoke, at: server)
            try await session.revoke(Secret("rt"))
            #expect(server.requests.count == vector.expect["requests"]?.wholeNumber)
        }
    }

    @Test(arguments: OAuthVectors.followed("revocation").filter { $0.text("end_session_endpoint") != nil })
    func `the page that ends the session knows which`(_ vector: VectorCase) throws {
        var session = try Issuing.session(vector, operation: .signOut)
        session.request.idTokenHint = vector.text("id_token_hint").map { Secret($0) }
        let page = try session.endSessionPage()
        #expect(page.hasPrefix(vector.expected("starts_with") ?? "-"))
        for name in vector.expectedTexts("has") { #expect(page.contains("\(name)=")) }
    }
}
