import FoundationEssentials

/// What an authority says of itself (OpenID Connect Discovery 1.0, 3; RFC 8414, 2); nothing of it is checked.
package struct ProviderMetadata: Sendable, Equatable, Codable {
    /// The issuer, which is to be compared with the authority that was asked.
    package let issuer: String?
    /// RFC 6749, 3.1.
    package let authorizationEndpoint: String?
    /// RFC 6749, 3.2.
    package let tokenEndpoint: String?
    /// RFC 8628, 3.1.
    package let deviceAuthorizationEndpoint: String?
    /// OpenID Connect RP-Initiated Logout 1.0, 2.1.
    package let endSessionEndpoint: String?
    /// OpenID Connect Core 1.0, 5.3.
    let userinfoEndpoint: String?
    /// RFC 7009, 2.
    let revocationEndpoint: String?
    /// RFC 7591, 3.
    let registrationEndpoint: String?
    /// RFC 7517.
    let keys: String?
    /// What may be asked for; nil if it isn't said.
    let scopes: [String]?
    /// How clients may prove who they are; nil if it isn't said.
    let authenticationMethods: [String]?

    /// Whether answers of the authorization endpoint always name the issuer (RFC 9207, 3); nil if it isn't said.
    package let namesIssuer: Bool?

    /// By how much the authority's clock is ahead of this computer's, in seconds; nil if it didn't tell the time.
    package private(set) var clockLead: Double?

    /// Asks an authority.
    ///
    /// - Parameters:
    ///   - url: where the document is.
    ///   - authority: the authority's URL, for a person.
    ///   - transport: the way there.
    /// - Returns: the document, as it is.
    /// - Throws: what the authority refuses with, `notFound` if there is no document, `unavailable` if it can't be read.
    package static func fetch(
        _ url: String, of authority: String, over transport: Transport
    ) async throws(OAuthError) -> ProviderMetadata {
        let answer = try await transport.get(url)
        guard answer.status == 200 else {
            if let refusal = ErrorResponse(answer) { throw OAuthError(refusal, at: .configuration) }
            throw OAuthError(
                .notFound, "there is no authority at \(authority) (HTTP \(answer.status))",
                hint: "check the authority's URL")
        }
        guard var document = answer.json(ProviderMetadata.self) else {
            throw unreadable(from: (try? HTTPSAddress(url))?.environment ?? authority)
        }
        document.clockLead = answer.date?.timeIntervalSinceNow
        return document
    }

    /// The error for a document that isn't one.
    package static func unreadable(from authority: String) -> OAuthError {
        OAuthError(
            .unavailable, "\(authority) answered with something that is not an OpenID configuration",
            hint: "check that no proxy or network sign-in page is in between, and that the authority is right")
    }

    /// Reads a document; a member of another type than it should have counts as absent.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func value<Value: Decodable>(_ key: CodingKeys) -> Value? { try? members.decode(Value.self, forKey: key) }
        issuer = value(.issuer)
        authorizationEndpoint = value(.authorizationEndpoint)
        tokenEndpoint = value(.tokenEndpoint)
        deviceAuthorizationEndpoint = value(.deviceAuthorizationEndpoint)
        endSessionEndpoint = value(.endSessionEndpoint)
        userinfoEndpoint = value(.userinfoEndpoint)
        revocationEndpoint = value(.revocationEndpoint)
        registrationEndpoint = value(.registrationEndpoint)
        keys = value(.keys)
        scopes = value(.scopes)
        authenticationMethods = value(.authenticationMethods)
        namesIssuer = value(.namesIssuer)
    }

    private enum CodingKeys: String, CodingKey {
        case issuer
        case authorizationEndpoint = "authorization_endpoint"
        case tokenEndpoint = "token_endpoint"
        case deviceAuthorizationEndpoint = "device_authorization_endpoint"
        case endSessionEndpoint = "end_session_endpoint"
        case userinfoEndpoint = "userinfo_endpoint"
        case revocationEndpoint = "revocation_endpoint"
        case registrationEndpoint = "registration_endpoint"
        case keys = "jwks_uri"
        case scopes = "scopes_supported"
        case authenticationMethods = "token_endpoint_auth_methods_supported"
        case namesIssuer = "authorization_response_iss_parameter_supported"
    }
}
