import AuthorityFixture
import FoundationEssentials
import JSON
import PluginWire
import Secrets
import Testing
import Vectors

@testable import OAuth
@testable import OpenIDConnect

/// Applications that an issuer registers by itself (RFC 7591).
struct RegistrationTests {
    @Test(arguments: OAuthVectors.followed("registration").filter { $0.expect["json"] == nil })
    func `what the issuer answers counts`(_ vector: VectorCase) async throws {
        try await Issuing.serving({ _ in Issuing.behaviour(vector.input) }) { server in
            var session = try Issuing.session(vector, operation: .register, at: server)
            defer { session.transport.close() }
            session.metadata.registration = "https://localhost:\(server.port)/register"
            do throws(PluginError) {
                let registered = try await session.register()
                #expect(vector.isFine)
                #expect(registered.clientID == vector.expected("client_id"))
                #expect(registered.clientSecret == vector.expected("client_secret").map { Secret($0) })
            } catch {
                #expect(error.code.rawValue == vector.code)
            }
        }
    }

    @Test(arguments: OAuthVectors.followed("registration").filter { $0.expect["json"] != nil })
    func `the application is a public one on this computer`(_ vector: VectorCase) async throws {
        let answer: [String: JSONValue] = ["status": 201, "json": ["client_id": "c1"]]
        try await Issuing.serving({ _ in Issuing.behaviour(answer) }) { server in
            var session = try Issuing.session(vector, operation: .register, at: server)
            defer { session.transport.close() }
            session.metadata.registration = "https://localhost:\(server.port)/register"
            session.metadata.endpoints.deviceAuthorization = nil
            _ = try await session.register()
            let request = try #require(server.requests.first)
            #expect(request.hasPrefix("POST /register HTTP/1.1\r\n"))
            #expect(request.lowercased().contains("content-type: application/json\r\n"))
            let body = try #require(request.components(separatedBy: "\r\n\r\n").last)
            #expect(JSONValue(bytes: Array(body.utf8)) == vector.expect["json"])
        }
    }

    @Test(
        arguments: [
            (["client_id": "c1", "client_secret": "s", "token_endpoint_auth_method": "client_secret_basic"], "s"),
            (["client_id": "c1", "client_secret": "s"], nil),
        ] as [(JSONValue, String?)])
    func `a secret counts if the issuer wants it`(_ json: JSONValue, _ secret: String?) throws {
        let client = try RegisteredClient(Issuing.answer(["status": 201, "json": json]), from: "id.example")
        #expect(client.secret == secret.map { Secret($0) })
    }

    @Test(
        arguments: [
            ["client_id": "two words"], ["client_id": ""],
            ["client_id": "c", "token_endpoint_auth_method": "private_key_jwt"],
            ["client_id": "c", "token_endpoint_auth_method": "client_secret_post"],
        ] as [JSONValue])
    func `an application that can't be used is none`(_ json: JSONValue) {
        #expect(throws: OAuthError.self) {
            try RegisteredClient(Issuing.answer(["status": 201, "json": json]), from: "id.example")
        }
    }

    @Test func `an application that may not ask for what is wanted is no use`() async throws {
        let answer: [String: JSONValue] = ["status": 201, "json": ["client_id": "c1", "scope": "mcp"]]
        try await Issuing.serving({ _ in Issuing.behaviour(answer) }) { server in
            var session = try Issuing.session(
                #require(OAuthVectors.followed("registration").first), operation: .register, at: server)
            defer { session.transport.close() }
            session.request.scopes = ["repo"]
            session.metadata.registration = "https://localhost:\(server.port)/register"
            let asking = session
            let error = await #expect(throws: PluginError.self) { try await asking.register() }
            #expect(error?.code == .declinedScopes && error?.declinedScopes == ["repo"])
        }
    }

    @Test func `an issuer that registers none by itself is not asked`() async throws {
        try await ScriptedIssuer.run { issuer, server in
            var request = issuer.request(.register, at: server)
            request.clientID = ""
            let asking = request
            let plugin = IssuerPlugin(environment: [:])
            let error = await #expect(throws: PluginError.self) { try await plugin.register(asking) }
            #expect(error?.code == .unsupported)
            #expect(issuer.asked == ["/.well-known/openid-configuration"])
        }
    }
}
