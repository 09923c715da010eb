import Addresses
import FoundationEssentials
import HTTP

/// An authority's metadata document (OpenID Connect Discovery 1.0, 3; RFC 8414, 2), unvalidated.
package struct ProviderMetadata: Sendable, Equatable, Codable {
    /// The issuer; compare it with the authority that was asked.
    package let issuer: String?
    /// The authorization endpoint (RFC 6749, 3.1).
    package let authorizationEndpoint: String?
    /// The token endpoint (RFC 6749, 3.2).
    package let tokenEndpoint: String?
    /// The device authorization endpoint (RFC 8628, 3.1).
    package let deviceAuthorizationEndpoint: String?
    /// The end-session endpoint (OpenID Connect RP-Initiated Logout 1.0, 2.1).
    package let endSessionEndpoint: String?
    /// The userinfo endpoint (OpenID Connect Core 1.0, 5.3).
    let userinfoEndpoint: String?
    /// RFC 7009, 2.
    let revocationEndpoint: String?
    /// RFC 7591, 3.
    let registrationEndpoint: String?
    /// The URL of the keys (RFC 7517).
    let keys: String?
    /// The supported scopes; nil if the document doesn't list them.
    let scopes: [String]?
    /// The supported client authentication methods; nil if the document doesn't list them.
    let authenticationMethods: [String]?

    /// Whether authorization responses always name the issuer (RFC 9207, 3); nil if the document doesn't say.
    package let namesIssuer: Bool?

    /// By how many seconds the authority's clock is ahead of this computer's; nil if the answer had no date.
    package private(set) var clockLead: Double?

    /// Fetches an authority's metadata.
    ///
    /// - Parameters:
    ///   - url: The document's URL.
    ///   - authority: The authority's URL, for error messages.
    ///   - transport: The transport for the request.
    /// - Returns: The document, unvalidated.
    /// - Throws: the authority's refusal, `notFound` if there is no document, or `unavailable` if it can't be read.
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
            throw unreadable(from: StrictURL(https: url)?.hostText ?? authority)
        }
        document.clockLead = answer.date?.timeIntervalSinceNow
        return document
    }

    /// Returns the error for an answer that isn't a metadata document.
    package static func unreadable(from authority: String) -> OAuthError {
        OAuthError(
            .unavailable, "\(authority) answered with something that is not an OpenID configuration",
            hint: "check that no proxy or network sign-in page is in between, and that the authority is right")
    }

    /// Parses a document; a member of the wrong type counts as absent.
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
