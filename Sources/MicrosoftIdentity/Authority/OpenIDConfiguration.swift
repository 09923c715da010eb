import PluginWire
import Secrets

/// What an authority says of itself (OpenID Connect Discovery 1.0, 4), checked before anything is sent there.
struct OpenIDConfiguration: Sendable, Equatable {
    let authorizationEndpoint: String
    let tokenEndpoint: String
    let deviceAuthorizationEndpoint: String?
    let endSessionEndpoint: String?
    /// May hold `{tenantid}`.
    let issuer: String

    /// Asks the authority.
    ///
    /// - Throws: `invalid-request` where there is no such tenant or policy; `internal` where an endpoint lies outside
    ///   the environment or the issuer is not one that the authority may name.
    static func fetch(
        of authority: Authority, in metadata: InstanceMetadata, over transport: Transport
    ) async throws(PluginError) -> OpenIDConfiguration {
        guard let url = ConventionalEndpoints(base: authority.url).configuration else {
            throw PluginError(.invalidRequest, "the request names no authority")
        }
        let answer = try await transport.get(url)
        guard answer.status == 200 else { throw refusal(answer, authority: authority) }
        guard let document = answer.json(Document.self) else {
            throw PluginError(
                .unavailable, "\(authority.environment) answered with something that is no OpenID configuration",
                hint: "check that no proxy or network sign-in page stands between, and that the authority is right")
        }
        return try OpenIDConfiguration(document, of: authority, in: metadata)
    }

    private init(
        _ document: Document, of authority: Authority, in metadata: InstanceMetadata
    ) throws(PluginError) {
        func checked(_ endpoint: String) throws(PluginError) -> String {
            try Self.check(endpoint, of: authority, in: metadata)
            return endpoint
        }
        guard Issuer.accepts(document.issuer, authority: authority.url, aliases: metadata.aliases) else {
            throw PluginError(
                .internal,
                "\(authority.environment) names an issuer that is not its own: "
                    + document.issuer.displayable(limit: 200))
        }
        issuer = document.issuer
        authorizationEndpoint = try checked(document.authorizationEndpoint)
        tokenEndpoint = try checked(document.tokenEndpoint)
        // B2C has no device codes; Entra has them where convention says, should its document not say so.
        let conventional = authority.kind == .b2c ? nil : ConventionalEndpoints(base: authority.url).deviceAuthorization
        deviceAuthorizationEndpoint =
            if let endpoint = document.deviceAuthorizationEndpoint { try checked(endpoint) } else { conventional }
        endSessionEndpoint = if let endpoint = document.endSessionEndpoint { try checked(endpoint) } else { nil }
    }

    /// Keeps codes and tokens within the environment's hosts.
    private static func check(
        _ endpoint: String, of authority: Authority, in metadata: InstanceMetadata
    ) throws(PluginError) {
        let address = try? WebAddress(endpoint)
        guard let host = address?.environment, host == authority.environment || metadata.contains(host) else {
            let host = address?.environment ?? endpoint.displayable(limit: 200)
            throw PluginError(
                .internal, "\(authority.environment) names an endpoint outside its environment: \(host)",
                hint: "if the tenant lives in another cloud, configure its authority at \(host)")
        }
    }

    private static func refusal(_ answer: HTTPAnswer, authority: Authority) -> PluginError {
        if let failure = OAuthFailure(answer) { return failure.pluginError(.configuration) }
        return PluginError(
            .invalidRequest, "there is no authority at \(authority.url) (HTTP \(answer.status))",
            hint: "check the tenant\(authority.policy == nil ? "" : " and the policy") in the authority's URL")
    }

    private struct Document: Decodable {
        var authorizationEndpoint: String
        var tokenEndpoint: String
        var issuer: String
        var deviceAuthorizationEndpoint: String?
        var endSessionEndpoint: String?

        enum CodingKeys: String, CodingKey {
            case authorizationEndpoint = "authorization_endpoint"
            case tokenEndpoint = "token_endpoint"
            case issuer
            case deviceAuthorizationEndpoint = "device_authorization_endpoint"
            case endSessionEndpoint = "end_session_endpoint"
        }
    }
}
