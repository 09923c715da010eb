import Addresses
import AuthorityFixture
import Claims
import Foundation
import JSON
import NIOHTTP1
import PluginWire
import Secrets
import Vectors
import X509

@testable import OAuth
@testable import OpenIDConnect

/// What the tests of the vectors make of their inputs.
enum Issuing {
    /// A session at an issuer whose endpoints are known.
    static func session(
        _ vector: VectorCase, operation: PluginRequest.Operation = .authorize, at server: TLSServer? = nil
    ) throws -> IssuerSession {
        var request = PluginRequest(operation)
        request.authority = vector.text("authority") ?? vector.text("issuer") ?? "https://id.example.com"
        request.clientID = vector.text("client_id") ?? "c"
        request.clientSecret = vector.text("client_secret").map { Secret($0) }
        request.kind = vector.text("kind")
        request.scopes = vector.texts("requested_scope") + vector.texts("scope")
        request.resources = vector.texts("resource")
        request.redirectURI = vector.text("redirect_uri")
        request.refreshToken = vector.text("refresh_token").map { Secret($0) }
        request.signIn.loginHint = vector.text("login_hint")
        request.caFile = server?.caFile
        let base = server.map { "https://localhost:\($0.port)" } ?? "https://id.example.com"
        var endpoints = Endpoints(
            authorization: vector.text("authorization_endpoint") ?? "\(base)/authorize", token: "\(base)/token",
            deviceAuthorization: "\(base)/device")
        endpoints.endSession = vector.text("end_session_endpoint")
        let address = try HTTPSAddress(request.authority)
        let methods = vector.input["token_endpoint_auth_methods_supported"].map { $0.elements.compactMap(\.string) }
        return IssuerSession(
            request: request, address: address, traits: IssuerTraits(kind: request.kind, authority: address),
            metadata: IssuerMetadata(
                request.authority, endpoints: endpoints, isOpenID: vector.input["oidc"] == .bool(true),
                scopes: vector.texts("scopes_supported"), authenticationMethods: methods ?? ["client_secret_basic"]),
            transport: try transport(to: server))
    }

    /// A way to a server; the tests' end ends its connections.
    static func transport(to server: TLSServer?) throws -> Transport {
        var settings = Transport.Settings(userAgent: "tests", environment: [:])
        settings.caFile = server?.caFile
        settings.limits.longestPause = .zero
        return try Transport(settings)
    }

    /// The answer of a case: its JSON or its body, by its status.
    static func answer(_ input: [String: JSONValue]) -> HTTPAnswer {
        let json = input["json"] ?? input["document"]
        var headers = HTTPHeaders()
        headers.add(name: "content-type", value: input["content_type"]?.string ?? "application/json")
        let body = json?.encodedText ?? input["body"]?.string ?? ""
        return HTTPAnswer(status: input["status"]?.wholeNumber ?? 200, headers: headers, body: Data(body.utf8))
    }

    /// The same over the wire.
    static func behaviour(_ input: [String: JSONValue], headers: [String] = []) -> TLSServer.Behaviour {
        let answer = answer(input)
        let body = String(decoding: answer.body, as: UTF8.self)
        let further = [
            ("retry-after", "retry_after"), ("location", "location"), ("www-authenticate", "www_authenticate"),
        ]
        .compactMap { name, key in input[key]?.string.map { "\(name): \($0)" } }
        let lines = [
            "HTTP/1.1 \(answer.status) X", "content-type: \(answer.headers.first(name: "content-type") ?? "")",
            "content-length: \(body.utf8.count)",
        ]
        return .answer((lines + further + headers).joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    /// Runs the body against a server on this computer.
    static func serving(
        _ behaviour: @escaping @Sendable (String) -> TLSServer.Behaviour, _ body: (TLSServer) async throws -> Void
    ) async throws {
        try await TLSServer.run(.init(.dnsName("localhost")), behaviour, body)
    }

    /// The form of a request.
    static func form(_ request: String) -> [String: String] {
        FormEncoding.decode(request.components(separatedBy: "\r\n\r\n").last?[...] ?? "")
    }

    /// An error in the plugin protocol's terms, for an issuer of no kind.
    static func plain(_ error: OAuthError) -> PluginError {
        let traits = (try? HTTPSAddress("https://id.example.com")).map { IssuerTraits(kind: nil, authority: $0) }
        return traits.map { error.pluginError(of: PluginRequest(.authorize), $0) } ?? PluginError(.internal, "")
    }

    /// An ID token with a signature that nobody can check.
    static func idToken(_ claims: JSONValue, header: JSONValue = ["alg": "RS256"]) -> String {
        "\(Base64URL.encode(header.encoded())).\(Base64URL.encode(claims.encoded())).c2ln"
    }
}

extension IssuerSession {
    /// What a case expects of an error.
    func code(_ error: OAuthError) -> String { pluginError(error).code.rawValue }
}

extension VectorCase {
    /// Whether it expects that all goes well.
    var isFine: Bool { expected("outcome") != "error" }
    /// The code of the error that it expects.
    var code: String? { expected("code") }
}
