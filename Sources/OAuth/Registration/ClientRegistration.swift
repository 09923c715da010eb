import FoundationEssentials
package import Secrets

/// What an application says of itself to have itself registered (RFC 7591, 2): a public one, on the person's own computer.
package struct ClientRegistration: Sendable, Encodable {
    /// What people are told it is called.
    private let name: String
    private let redirectURIs: [String]
    private let grants: [String]
    private let scope: String?
    private let kind = "native"
    private let authenticationMethod = "none"
    private let responses = ["code"]

    /// Makes what is sent; it names a device code's grant if the authority gives such codes.
    package init(name: String, redirectURI: String, scope: String, usesDeviceCodes: Bool) {
        self.name = name
        redirectURIs = [redirectURI]
        let device = usesDeviceCodes ? ["urn:ietf:params:oauth:grant-type:device_code"] : []
        grants = ["authorization_code", "refresh_token"] + device
        self.scope = scope.isEmpty ? nil : scope
    }

    /// Has the application registered; each success makes another one.
    ///
    /// - Parameters:
    ///   - endpoint: the authority's registration endpoint.
    ///   - authority: its host, for people.
    ///   - transport: the way there.
    /// - Returns: the application as the authority knows it.
    /// - Throws: what the authority refuses with, or why it can't be asked.
    package func send(
        to endpoint: String, of authority: String, over transport: Transport
    ) async throws(OAuthError) -> RegisteredClient {
        guard let json = try? JSONEncoder().encode(self) else {
            throw OAuthError(.invalidRequest, "the application's name or scopes cannot be sent")
        }
        let answer = try await transport.post(endpoint, json: String(decoding: json, as: UTF8.self), .unlessActedOn)
        guard [200, 201].contains(answer.status) else {
            if answer.status == 401 || answer.status == 403 { throw Self.closed(authority) }
            if let refusal = ErrorResponse(answer) { throw OAuthError(refusal, at: .registration) }
            throw OAuthError(.unavailable, "\(authority) registered nothing (HTTP \(answer.status))")
        }
        return try RegisteredClient(answer, from: authority)
    }

    private static func closed(_ authority: String) -> OAuthError {
        OAuthError(
            .unsupported, "\(authority) lets only those register applications whom it knows",
            hint: "have one registered there, and give its client ID")
    }

    private enum CodingKeys: String, CodingKey {
        case name = "client_name"
        case redirectURIs = "redirect_uris"
        case grants = "grant_types"
        case scope
        case kind = "application_type"
        case authenticationMethod = "token_endpoint_auth_method"
        case responses = "response_types"
    }
}

/// An application that an authority has registered (RFC 7591, 3.2.1).
package struct RegisteredClient: Sendable, Equatable {
    /// The client ID.
    package let id: String
    /// The secret that it has to prove itself with; nil if it needs none, whatever the authority sent along.
    package let secret: Secret?
    /// The scopes that it may ask for; nil if the authority doesn't say.
    package let scopes: [String]?

    /// Reads the authority's answer.
    init(_ answer: HTTPAnswer, from authority: String) throws(OAuthError) {
        guard let said = answer.json(Members.self), let id = said.id, (1...256).contains(id.utf8.count),
            id.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw OAuthError(.broken, "\(authority) registered an application and does not say which") }
        self.id = id
        scopes = said.scope.map(ScopeText.split)
        switch said.authenticationMethod ?? "none" {
        case "none": secret = nil
        case "client_secret_basic", "client_secret_post":
            guard let text = said.secret, !text.isEmpty else {
                throw OAuthError(.broken, "\(authority) wants a client secret and gave none")
            }
            secret = Secret(text)
        default:
            throw OAuthError(.unsupported, "\(authority) wants the application to prove itself by a key")
        }
    }

    private struct Members: Decodable {
        var id: String?
        var secret: String?
        var scope: String?
        var authenticationMethod: String?

        enum CodingKeys: String, CodingKey {
            case id = "client_id"
            case secret = "client_secret"
            case scope
            case authenticationMethod = "token_endpoint_auth_method"
        }
    }
}
