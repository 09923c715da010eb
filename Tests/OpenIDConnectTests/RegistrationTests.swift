import AuthorityFixture
import FoundationEssentials
import HTTP
import JSON
import PluginWire
import Secrets
import Synchronization
import Testing
import Vectors

@testable import OAuth
@testable import OpenIDConnect

/// Dynamic client registration at an issuer (RFC 7591).
struct RegistrationTests {
    @Test(arguments: OAuthVectors.followed("registration").filter { $0.expect["json"] == nil })
    func `what the issuer answers counts`(_ vector: VectorCase) async throws {
        try await Issuing.serving({ _ in Issuing.behaviour(vector.input) }) { server in
            var session = try Issuing.session(vector, operation: .register, at: server)
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
        let client = try Self.read(json)
        #expect(client.secret == secret.map { Secret($0) })
    }

    @Test(
        arguments: [
            ["client_id": "two words"], ["client_id": ""],
            ["client_id": "c", "token_endpoint_auth_method": "private_key_jwt"],
            ["client_id": "c", "token_endpoint_auth_method": "client_secret_post"],
        ] as [JSONValue])
    func `an application that can't be used is none`(_ json: JSONValue) {
        let client = try? Self.read(json)
        #expect(client == nil || client?.obstacle != nil)
    }

    private static func read(_ json: JSONValue) throws -> RegisteredClient {
        let answer = Issuing.answer(["status": 201, "json": json])
        return try RegisteredClient(answer, at: "https://id.example/register", from: "id.example")
    }

    @Test(arguments: [
        ("https://id.example/register?client_id=c", "t", true), ("https://id.example:443/register", "t", true),
        ("https://evil.example/register", "t", false),
        ("https://id.example:8443/register", "t", false), ("http://id.example/register", "t", false),
        ("https://id.example/register", "two words", false),
    ])
    func `the token of a registration stays at its issuer's`(_ uri: String, _ token: String, isTaken: Bool) throws {
        let client = try Self.read([
            "client_id": "c", "registration_client_uri": .string(uri), "registration_access_token": .string(token),
        ])
        #expect((client.management != nil) == isTaken)
    }

    @Test(arguments: [(JSONValue.integer(0), nil as Int?), (1_900_000_000, 1_900_000_000), ("x", nil), (.null, nil)])
    func `when a secret ends is told`(_ end: JSONValue, _ expected: Int?) throws {
        let client = try? Self.read([
            "client_id": "c", "client_secret": "s", "token_endpoint_auth_method": "client_secret_basic",
            "client_secret_expires_at": end,
        ])
        #expect(client?.secretExpiresAt == expected)
    }

    /// Runs the body with an issuer that registers something else, and answers its deletion with this status.
    private static func registering(takingBack status: Int64, _ body: (IssuerSession, TLSServer) async throws -> Void)
        async throws
    {
        try await Issuing.serving({ request in
            guard request.hasPrefix("POST ") else { return Issuing.behaviour(["status": .integer(status)]) }
            let host = request.components(separatedBy: "\r\n").first { $0.lowercased().hasPrefix("host: ") }
            let uri = "https://\(host?.dropFirst("host: ".count) ?? "")/register/c1"
            return Issuing.behaviour([
                "status": 201,
                "json": [
                    "client_id": "c1", "scope": "mcp", "registration_client_uri": .string(uri),
                    "registration_access_token": "geheim",
                ],
            ])
        }) { server in
            var session = try Issuing.session(
                #require(OAuthVectors.followed("registration").first), operation: .register, at: server)
            session.metadata.registration = "https://localhost:\(server.port)/register"
            try await body(session, server)
        }
    }

    @Test(arguments: [204, 405] as [Int64])
    func `an application that is no use is taken back, or named`(_ status: Int64) async throws {
        try await Self.registering(takingBack: status) { session, server in
            var session = session
            session.request.scopes = ["repo"]
            let asking = session
            let error = await #expect(throws: PluginError.self) { try await asking.register() }
            #expect(error?.code == .declinedScopes)
            #expect(
                error?.message.contains("it keeps the application c1") == (status == 405), "\(error?.message ?? "")")
            let request = try #require(server.requests.last)
            #expect(request.hasPrefix("DELETE /register/c1 HTTP/1.1\r\n"))
            #expect(request.lowercased().contains("authorization: bearer geheim\r\n"))
        }
    }

    @Test(arguments: [
        ([502, 401], true), ([503, 404], true), ([404], true), ([410], true), ([401], false), ([403], false),
    ])
    func `an application that is gone is taken back`(_ statuses: [Int64], _ isGone: Bool) async throws {
        let left = Mutex(statuses)
        try await Issuing.serving({ _ in
            Issuing.behaviour(["status": .integer(left.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] })])
        }) { server in
            let transport = try Issuing.transport(to: server)
            let management = ClientManagement(uri: "https://localhost:\(server.port)/c1", token: Secret("t"))
            var failure: OAuthError?
            do throws(OAuthError) { try await management.delete(of: "host", over: transport) } catch { failure = error }
            #expect((failure == nil) == isGone, "\(failure?.message ?? "")")
            #expect(server.requests.count == statuses.count)
        }
    }

    @Test func `an application is taken back with what came as it was registered`() async throws {
        try await Self.registering(takingBack: 204) { session, server in
            var session = session
            session.request.scopes = ["mcp"]
            let registered = try await session.register()
            var request = PluginRequest(.unregister)
            request.authority = "https://localhost:\(server.port)"
            request.clientID = registered.clientID
            request.registration = registered.management
            request.network.caFiles = [server.caFile]
            try await IssuerPlugin(environment: [:]).unregister(request)
            #expect(server.requests.last?.hasPrefix("DELETE /register/c1 HTTP/1.1\r\n") == true)
        }
    }

    @Test func `an application that may not ask for what is wanted is no use`() async throws {
        let answer: [String: JSONValue] = ["status": 201, "json": ["client_id": "c1", "scope": "mcp"]]
        try await Issuing.serving({ _ in Issuing.behaviour(answer) }) { server in
            var session = try Issuing.session(
                #require(OAuthVectors.followed("registration").first), operation: .register, at: server)
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
