import OAuth
import Secrets

/// What an authority says of itself (OpenID Connect Discovery 1.0, 4), checked before anything is sent there.
struct OpenIDConfiguration: Sendable, Equatable {
    let endpoints: Endpoints
    /// May hold `{tenantid}`.
    let issuer: String
    /// By how much the authority's clock is ahead of this computer's, in seconds; nil if it didn't tell the time.
    let clockLead: Double?
    /// All that it said.
    let said: ProviderMetadata

    /// Asks the authority.
    ///
    /// - Throws: `notFound` if there is no such tenant or policy; `broken` if an endpoint lies outside the environment or
    ///   the issuer is not one that the authority may name.
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

    /// Checks what an authority says.
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
        guard Issuer.accepts(issuer, authority: authority.url, aliases: metadata.aliases) else {
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
        // B2C has no device codes; Entra has them where convention says, should its document not say so.
        let conventional = authority.kind == .b2c ? nil : ConventionalEndpoints(base: authority.url).deviceAuthorization
        endpoints = Endpoints(
            authorization: authorization, token: token,
            deviceAuthorization: try checked(document.deviceAuthorizationEndpoint) ?? conventional,
            endSession: try checked(document.endSessionEndpoint))
    }

    /// Keeps codes and tokens within the environment's hosts.
    private static func check(
        _ endpoint: String, of authority: Authority, in metadata: InstanceMetadata
    ) throws(OAuthError) {
        let address = try? HTTPSAddress(endpoint)
        guard let host = address?.environment, host == authority.environment || metadata.contains(host) else {
            let host = address?.environment ?? endpoint.displayable(limit: 200)
            throw OAuthError(
                .broken, "\(authority.environment) names an endpoint outside its environment: \(host)",
                hint: "if the tenant lives in another cloud, configure its authority at \(host)")
        }
    }
}
