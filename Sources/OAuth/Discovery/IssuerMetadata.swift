import Addresses
import FoundationEssentials
import HTTP
package import JSON
import Secrets

/// An issuer's metadata (OpenID Connect Discovery 1.0, 4; RFC 8414, 3), validated before any request uses it.
package struct IssuerMetadata: Sendable, Equatable {
    /// The issuer as its own document spells it.
    package let issuer: String
    /// The endpoints; any that isn't https counts as missing.
    package var endpoints: Endpoints
    /// Whether the metadata comes from the configuration instead of the issuer.
    package let isConfigured: Bool
    /// Whether it issues ID tokens.
    package let isOpenID: Bool
    /// Whether authorization responses always name the issuer (RFC 9207, 3).
    package private(set) var namesIssuer = false
    /// The registration endpoint (RFC 7591); nil if the issuer has no dynamic registration.
    package var registration: String?
    /// The URL of the keys that sign ID tokens (RFC 7517); nil if the issuer publishes none.
    package private(set) var keys: String?
    /// The supported scopes, as far as the issuer lists them.
    package let scopes: [String]
    /// The supported client authentication methods (OpenID Connect Core 1.0, 9); the standards' default if the issuer
    /// doesn't list them.
    package let authenticationMethods: [String]
    /// The algorithms that a client's assertions may be signed with; nil if the issuer doesn't list them.
    package private(set) var assertionAlgorithms: [String]?
    /// By how many seconds the issuer's clock is ahead of this computer's; nil if the answer had no date.
    package private(set) var clockLead: Double?
    /// The issuer's document, and whether it was at OpenID Connect's location; nil if the issuer wasn't asked.
    package private(set) var said: Said?

    /// The issuer's own document.
    package struct Said: Sendable, Equatable {
        package let metadata: ProviderMetadata
        package let isOpenID: Bool
    }

    /// Creates the metadata of an issuer whose endpoints are already known.
    package init(
        _ issuer: String, endpoints: Endpoints, isOpenID: Bool, scopes: [String], authenticationMethods: [String]
    ) {
        self.issuer = issuer
        self.endpoints = endpoints
        self.isOpenID = isOpenID
        self.scopes = scopes
        self.authenticationMethods = authenticationMethods
        isConfigured = true
    }

    /// Fetches an issuer's metadata.
    ///
    /// - Parameters:
    ///   - authority: The issuer's URL; a trailing slash makes no difference.
    ///   - transport: The transport for the requests.
    ///   - accepts: Whether the document may name this issuer although it isn't the authority.
    /// - Returns: The first document found (RFC 8414, 5). Not every server answers 404 to what it doesn't know: some want
    ///   a sign-in, or show a page.
    /// - Throws: `notFound` if there is none, `untrusted` if it is another issuer's, `invalidRequest` if the issuer
    ///   supports no usable sign-in, or `unavailable` if it can't be read.
    package static func discover(
        _ authority: String, over transport: Transport, accepting accepts: (String) -> Bool = { _ in false }
    ) async throws(OAuthError) -> IssuerMetadata {
        var failure = missing(authority)
        for document in documents(of: authority) {
            // A server that doesn't work isn't asked again.
            let answer = try await transport.get(document.url)
            do throws(OAuthError) {
                return try IssuerMetadata(answer, at: document, of: authority, accepting: accepts)
            } catch {
                guard error.kind == .notFound || error.kind == .unavailable else { throw error }
                if failure.kind == .notFound { failure = error }
            }
        }
        throw failure
    }

    private static func missing(_ authority: String) -> OAuthError {
        OAuthError(
            .notFound, "there is no issuer at \(authority.displayable(limit: 200))",
            hint: "check the authority's URL, and name its kind in the rule if it is of another")
    }

    /// A location where an issuer may publish its metadata.
    struct Document: Sendable, Equatable {
        let url: String
        /// Whether it is OpenID Connect's location.
        let isOpenID: Bool
    }

    /// Returns the possible locations of an issuer's metadata, in the order to try: OpenID Connect's own, then RFC
    /// 8414's, then OpenID Connect's well-known name at RFC 8414's location (RFC 8414, 5).
    static func documents(of authority: String) -> [Document] {
        guard let base = StrictURL(https: String(withoutSlash(authority))) else { return [] }
        let (origin, path) = (base.origin, base.tail)
        var documents = [
            Document(url: "\(origin)\(path)/.well-known/openid-configuration", isOpenID: true),
            Document(url: "\(origin)/.well-known/oauth-authorization-server\(path)", isOpenID: false),
        ]
        if !path.isEmpty {
            documents.append(Document(url: "\(origin)/.well-known/openid-configuration\(path)", isOpenID: true))
        }
        return documents
    }

    private static func withoutSlash(_ url: String) -> Substring {
        url.utf8.last == UInt8(ascii: "/") ? url.dropLast() : url[...]
    }

    /// Validates an answer.
    init(
        _ answer: HTTPAnswer, at document: Document, of authority: String, accepting accepts: (String) -> Bool
    ) throws(OAuthError) {
        let host = StrictURL(https: authority)?.hostText ?? authority.displayable(limit: 200)
        guard answer.status < 400 else { throw Self.missing(authority) }
        guard answer.status == 200, let said = answer.json?.members.map(ProviderMetadata.init) else {
            throw ProviderMetadata.unreadable(from: host)
        }
        try self.init(said, isOpenID: document.isOpenID, of: authority, accepting: accepts)
        clockLead = answer.date?.timeIntervalSinceNow
    }

    /// Validates an issuer's metadata.
    ///
    /// - Parameters:
    ///   - said: The issuer's document.
    ///   - isAtOpenID: Whether it was at OpenID Connect's location.
    ///   - authority: The issuer's URL.
    ///   - accepts: Whether the document may name this issuer although it isn't the authority.
    /// - Throws: the same errors as `discover`.
    package init(
        _ said: ProviderMetadata, isOpenID isAtOpenID: Bool, of authority: String,
        accepting accepts: (String) -> Bool
    ) throws(OAuthError) {
        let host = StrictURL(https: authority)?.hostText ?? authority.displayable(limit: 200)
        guard let issuer = said.issuer else {
            throw OAuthError(.invalidRequest, "\(host) does not say which issuer it is", hint: Self.check)
        }
        guard Self.isSame(issuer, as: authority) || accepts(issuer) else {
            throw OAuthError(
                .untrusted, "\(host) names another issuer: \(issuer.displayable(limit: 200))",
                hint: "write the authority as the issuer spells it, and see that nothing else answers in its place")
        }
        self.issuer = issuer
        isConfigured = false
        endpoints = try Self.endpoints(said, of: host)
        isOpenID = isAtOpenID || said.scopes?.contains("openid") == true
        namesIssuer = said.namesIssuer
        registration = Self.usable(said.registrationEndpoint)
        keys = Self.usable(said.keys)
        scopes = said.scopes ?? []
        authenticationMethods = said.authenticationMethods ?? ["client_secret_basic"]
        assertionAlgorithms = said.assertionAlgorithms
        self.said = Said(metadata: said, isOpenID: isAtOpenID)
    }

    private static let check = "check the authority's URL, and that nothing else answers in its place"

    private static func isSame(_ issuer: String, as authority: String) -> Bool {
        withoutSlash(issuer).utf8.elementsEqual(withoutSlash(authority).utf8)
    }

    private static func endpoints(_ said: ProviderMetadata, of host: String) throws(OAuthError) -> Endpoints {
        guard let token = usable(said.tokenEndpoint) else {
            throw OAuthError(.invalidRequest, "\(host) names no token endpoint that is https", hint: check)
        }
        var endpoints = Endpoints(
            authorization: usable(said.authorizationEndpoint), token: token,
            deviceAuthorization: usable(said.deviceAuthorizationEndpoint), endSession: usable(said.endSessionEndpoint))
        endpoints.userinfo = usable(said.userinfoEndpoint)
        endpoints.revocation = usable(said.revocationEndpoint)
        guard endpoints.authorization != nil || endpoints.deviceAuthorization != nil else {
            throw OAuthError(.invalidRequest, "\(host) names no page to sign in at that is https", hint: check)
        }
        return endpoints
    }

    /// Returns the endpoint; nil if it isn't usable.
    private static func usable(_ endpoint: String?) -> String? {
        guard let endpoint, Endpoints.isUsable(endpoint) else { return nil }
        return endpoint
    }
}

extension Endpoints {
    /// Whether a text is a valid endpoint URL (RFC 6749, 3.1 and 3.2): absolute, https, without a fragment or a user.
    package static func isUsable(_ text: String) -> Bool {
        text.utf8.count <= 2_048 && StrictURL(https: text).map { !$0.hasFragment } ?? false
    }
}

/// An authority's metadata document (OpenID Connect Discovery 1.0, 3; RFC 8414, 2), unvalidated.
package struct ProviderMetadata: Sendable, Equatable {
    /// The members that matter.
    package let members: [String: JSONValue]

    /// The issuer; compare it with the authority that was asked.
    package var issuer: String? { members["issuer"]?.string }
    /// The authorization endpoint (RFC 6749, 3.1).
    package var authorizationEndpoint: String? { members["authorization_endpoint"]?.string }
    /// The token endpoint (RFC 6749, 3.2).
    package var tokenEndpoint: String? { members["token_endpoint"]?.string }
    /// The device authorization endpoint (RFC 8628, 3.1).
    package var deviceAuthorizationEndpoint: String? { members["device_authorization_endpoint"]?.string }
    /// The end-session endpoint (OpenID Connect RP-Initiated Logout 1.0, 2.1).
    package var endSessionEndpoint: String? { members["end_session_endpoint"]?.string }
    /// The userinfo endpoint (OpenID Connect Core 1.0, 5.3).
    var userinfoEndpoint: String? { members["userinfo_endpoint"]?.string }
    /// RFC 7009, 2.
    var revocationEndpoint: String? { members["revocation_endpoint"]?.string }
    /// RFC 7591, 3.
    var registrationEndpoint: String? { members["registration_endpoint"]?.string }
    /// The URL of the keys (RFC 7517).
    var keys: String? { members["jwks_uri"]?.string }
    /// The supported scopes; nil if the document doesn't list them.
    var scopes: [String]? { members["scopes_supported"]?.texts }
    /// The supported client authentication methods; nil if the document doesn't list them.
    var authenticationMethods: [String]? { members["token_endpoint_auth_methods_supported"]?.texts }
    /// The algorithms that clients' assertions may be signed with; nil if the document doesn't list them.
    var assertionAlgorithms: [String]? { members["token_endpoint_auth_signing_alg_values_supported"]?.texts }
    /// Whether authorization responses always name the issuer (RFC 9207, 3).
    package var namesIssuer: Bool { members["authorization_response_iss_parameter_supported"] == true }

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
        guard var document = answer.json?.members.map(ProviderMetadata.init) else {
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

    /// Reads the members of a document; one of the wrong type counts as absent.
    package init(_ document: [String: JSONValue]) {
        let lists = [
            "scopes_supported", "token_endpoint_auth_methods_supported",
            "token_endpoint_auth_signing_alg_values_supported",
        ]
        members = document.filter { name, value in
            name == "issuer" || name == "jwks_uri" || name.hasSuffix("_endpoint") || lists.contains(name)
                || name == "authorization_response_iss_parameter_supported"
        }
    }
}
