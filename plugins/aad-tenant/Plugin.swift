package import MicrosoftIdentity
import PluginKit
import PluginWire

/// Microsoft Entra ID for the accounts of one tenant, including guests: `https://{host}/{id or domain}`.
///
/// Tokens are stored for that tenant under its ID, however the authority's URL names it.
package struct AADTenantPlugin: MicrosoftPlugin {
    /// The client with the profile of one tenant's authority.
    package let client = IdentityClient(
        AuthorityProfile(name: "aad-tenant", kind: .aad, refuses: Self.objection, exchanges: true, identities: true))

    /// Creates the plugin, with the proxy and certificate variables of the process's environment.
    package init() {}

    private static func objection(to authority: Authority) -> PluginError? {
        guard authority.audience != .identifier else { return nil }
        return PluginError(
            .invalidRequest, "\(authority.url) names no tenant, and aad-tenant supports nothing else",
            hint: "use the aad-common plugin, or put the tenant's id or domain into the URL")
    }
}
