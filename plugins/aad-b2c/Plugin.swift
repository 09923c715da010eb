public import AuthorityPlugin
import MicrosoftIdentity

/// Azure AD B2C: `https://{host}/tfp/{tenant}/{policy}` or `/{tenant}/{policy}`, each policy with accounts of its own.
public struct AADB2CPlugin: AuthorityPlugin {
    private static let profile = AuthorityProfile(name: "aad-b2c", kind: .b2c, explains: PolicyError.explain)

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
