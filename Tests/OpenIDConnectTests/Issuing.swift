import Addresses
import AuthorityFixture
import Claims
import Foundation
import HTTP
import JSON
import PluginWire
import Secrets
import Testing
import Vectors
import X509

@testable import OAuth
@testable import OpenIDConnect

/// Helpers that turn the vectors' inputs into sessions and answers.
enum Issuing {
    /// Returns a session at an issuer with known endpoints.
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
        request.network.caFiles = server.map { [$0.caFile] } ?? []
        let base = server.map { "https://localhost:\($0.port)" } ?? "https://id.example.com"
        var endpoints = Endpoints(
            authorization: vector.text("authorization_endpoint") ?? "\(base)/authorize", token: "\(base)/token",
            deviceAuthorization: "\(base)/device")
        endpoints.endSession = vector.text("end_session_endpoint")
        let address = try #require(StrictURL(https: request.authority))
        let methods = vector.input["token_endpoint_auth_methods_supported"].map { $0.elements.compactMap(\.string) }
        return IssuerSession(
            request: request, address: address, traits: IssuerTraits(kind: request.kind, authority: address),
            metadata: IssuerMetadata(
                request.authority, endpoints: endpoints, isOpenID: vector.input["oidc"] == .bool(true),
                scopes: vector.texts("scopes_supported"), authenticationMethods: methods ?? ["client_secret_basic"]),
            transport: try transport(to: server))
    }

    /// Returns a transport to a server; its connections end with the tests.
    static func transport(to server: TLSServer?) throws -> Transport {
        var settings = Transport.Settings(userAgent: "tests", environment: [:])
        settings.network.caFiles = server.map { [$0.caFile] } ?? []
        settings.limits.longestPause = .zero
        return try Transport(settings)
    }

    /// Returns the answer of a case: its JSON or body, with its status.
    static func answer(_ input: [String: JSONValue]) -> HTTPAnswer {
        let json = input["json"] ?? input["document"]
        let type = input["content_type"]?.string ?? "application/json"
        let body = json?.encodedText ?? input["body"]?.string ?? ""
        return HTTPAnswer(
            status: input["status"]?.wholeNumber ?? 200, headers: [.init(name: "content-type", value: type)],
            body: Array(body.utf8))
    }

    /// Returns the answer of a case as a server sends it.
    static func behaviour(_ input: [String: JSONValue], headers: [String] = []) -> TLSServer.Behaviour {
        let answer = answer(input)
        let body = String(decoding: answer.body, as: UTF8.self)
        let further = [
            ("retry-after", "retry_after"), ("location", "location"), ("www-authenticate", "www_authenticate"),
        ]
        .compactMap { name, key in input[key]?.string.map { "\(name): \($0)" } }
        let lines = [
            "HTTP/1.1 \(answer.status) X", "content-type: \(answer.first("content-type") ?? "")",
            "content-length: \(body.utf8.count)",
        ]
        return .answer((lines + further + headers).joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    /// Runs the body with a server on this computer.
    static func serving(
        _ behaviour: @escaping @Sendable (String) -> TLSServer.Behaviour, _ body: (TLSServer) async throws -> Void
    ) async throws {
        try await TLSServer.run(.init(.dnsName("localhost")), behaviour, body)
    }

    /// Returns the form of a request.
    static func form(_ request: String) -> [String: String] {
        FormEncoding.decode(request.components(separatedBy: "\r\n\r\n").last?[...] ?? "")
    }

    /// Converts an error to one of the plugin protocol.
    static func plain(_ error: OAuthError) -> PluginError { error.pluginError(of: PluginRequest(.authorize)) }

    /// Returns an ID token with an unverifiable signature.
    static func idToken(_ claims: JSONValue, header: JSONValue = ["alg": "RS256"]) -> String {
        "\(Base64URL.encode(header.encoded())).\(Base64URL.encode(claims.encoded())).c2ln"
    }
}

extension IssuerSession {
    /// Returns an error's code, as the cases name it.
    func code(_ error: OAuthError) -> String { pluginError(error).code.rawValue }
}

extension VectorCase {
    /// Whether the case expects success.
    var isFine: Bool { expected("outcome") != "error" }
    /// The code of the expected error.
    var code: String? { expected("code") }
}
