public import AuthorityPlugin
import MicrosoftIdentity

/// Microsoft Entra ID for the accounts of one tenant, guests included: `https://{host}/{id or domain}`.
///
/// Tokens are kept for that tenant, by its id whatever the authority's URL calls it.
public struct AADTenantPlugin: AuthorityPlugin {
    private static let profile = AuthorityProfile(name: "aad-tenant", kind: .aad) { authority in
        guard authority.audience != .identifier else { return nil }
        return PluginError(
            .invalidRequest, "\(authority.url) names no tenant, and aad-tenant serves nothing else",
            hint: "use the aad-common plugin, or put the tenant's id or domain into the URL")
    }

    private let client = IdentityClient(profile)

    /// Makes the plugin; proxies and certificates are looked for in the process's environment.
    public init() {}

    /// Name, version, protocol versions and flows.
    public var description: PluginDescription { Self.profile.description }

    /// Signs a person in.
    public func authorize(
        _ request: PluginRequest, _ person: any Conversation
    ) async throws(PluginError) -> PluginResult {
        try await client.authorize(request, person)
    }

    /// Redeems a refresh token.
    public func renew(_ request: PluginRequest) async throws(PluginError) -> PluginResult {
        try await client.renew(request)
    }

    /// Opens the page that ends the browser's session.
    public func signOut(_ request: PluginRequest, _ person: any Conversation) async throws(PluginError) {
        try await client.signOut(request, person)
    }
}
