import Addresses
import OAuth
import Secrets

/// An authority's metadata (OpenID Connect Discovery 1.0, 4), validated before any request uses it.
struct OpenIDConfiguration: Sendable, Equatable {
    let endpoints: Endpoints
    /// The issuer; it may contain `{tenantid}`.
    let issuer: String
    /// By how many seconds the authority's clock is ahead of this computer's; nil if the answer had no date.
    let clockLead: Double?
    /// The whole document.
    let said: ProviderMetadata

    /// Fetches the authority's metadata.
    ///
    /// - Throws: `notFound` if there is no such tenant or policy; `broken` if an endpoint is outside the environment or
    ///   the authority may not name the issuer.
    static func fetch(
        of authority: Authority, in metadata: InstanceMetadata, over transport: Transport
    ) async throws(OAuthError) -> OpenIDConfiguration {
        guard let url = ConventionalEndpoints(base: authority.url).configuration else {
            throw OAuthError(.invalidRequest, "the request names no authority")
        }
        do throws(OAuthError) {
            let document = try await ProviderMetadata.fetch(url, of: authority.url, over: transport)
            return try OpenIDConfiguration(document, of: authority, in: metadata)
        } catch {
            guard error.kind == .notFound else { throw error }
            let policy = authority.policy == nil ? "" : " and the policy"
            throw OAuthError(.notFound, error.message, hint: "check the tenant\(policy) in the authority's URL")
        }
    }

    /// Validates an authority's metadata.
    init(
        _ document: ProviderMetadata, of authority: Authority, in metadata: InstanceMetadata
    ) throws(OAuthError) {
        func checked(_ endpoint: String?) throws(OAuthError) -> String? {
            if let endpoint { try Self.check(endpoint, of: authority, in: metadata) }
            return endpoint
        }
        guard document.authorizationEndpoint != nil, let issuer = document.issuer, let token = document.tokenEndpoint
        else {
            throw ProviderMetadata.unreadable(from: authority.environment)
        }
        guard Authority.accepts(issuer: issuer, of: authority.url, aliases: metadata.aliases) else {
            throw OAuthError(
                .broken,
                "\(authority.environment) names an issuer that is not its own: "
                    + issuer.displayable(limit: 200),
                hint: "check the authority's URL, and that nothing else answers in its place")
        }
        self.issuer = issuer
        clockLead = document.clockLead
        said = document
        let authorization = try checked(document.authorizationEndpoint)
        try Self.check(token, of: authority, in: metadata)
        // B2C has no device codes; for Entra, the conventional endpoint is used if the document names none.
        let conventional = authority.kind == .b2c ? nil : ConventionalEndpoints(base: authority.url).deviceAuthorization
        endpoints = Endpoints(
            authorization: authorization, token: token,
            deviceAuthorization: try checked(document.deviceAuthorizationEndpoint) ?? conventional,
            endSession: try checked(document.endSessionEndpoint))
    }

    /// Ensures that codes and tokens are sent to the environment's hosts only.
    private static func check(
        _ endpoint: String, of authority: Authority, in metadata: InstanceMetadata
    ) throws(OAuthError) {
        let named = StrictURL(https: endpoint)?.hostText
        guard let host = named, host == authority.environment || metadata.aliases.contains(host) else {
            let host = named ?? endpoint.displayable(limit: 200)
            throw OAuthError(
                .broken, "\(authority.environment) names an endpoint outside its environment: \(host)",
                hint: "if the tenant lives in another cloud, configure its authority at \(host)")
        }
    }
}
