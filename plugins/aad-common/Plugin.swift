public import AuthorityPlugin
import MicrosoftIdentity

/// Microsoft Entra ID for accounts of any tenant: `https://{host}/common`, `/organizations` and `/consumers`.
///
/// Tokens are kept for the account's home tenant, and renewed there.
public struct AADCommonPlugin: AuthorityPlugin {
    private static let profile = AuthorityProfile(name: "aad-common", kind: .aad) { authority in
        guard authority.audience == .identifier else { return nil }
        return PluginError(
            .invalidRequest, "\(authority.url) is one tenant's authority, which aad-common doesn't serve",
            hint: "use the aad-tenant plugin, or /organizations in place of the tenant")
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

    /// Redeems a refresh token at the account's home tenant.
    public func renew(_ request: PluginRequest) async throws(PluginError) -> PluginResult {
        try await client.renew(request)
    }

    /// Opens the page that ends the browser's session.
    public func signOut(_ request: PluginRequest, _ person: any Conversation) async throws(PluginError) {
        try await client.signOut(request, person)
    }
}
