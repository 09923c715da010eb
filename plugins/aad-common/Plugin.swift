package import MicrosoftIdentity
import PluginKit
import PluginWire

/// Microsoft Entra ID for accounts of any tenant: `https://{host}/common`, `/organizations` and `/consumers`.
///
/// Tokens are stored for the account's home tenant, and renewed there.
package struct AADCommonPlugin: MicrosoftPlugin {
    /// The client with the profile of authorities for more than one tenant.
    package let client = IdentityClient(
        AuthorityProfile(name: "aad-common", kind: .aad, refuses: Self.objection, exchanges: true))

    /// Creates the plugin, with the proxy and certificate variables of the process's environment.
    package init() {}

    private static func objection(to authority: Authority) -> PluginError? {
        guard authority.audience == .identifier else { return nil }
        return PluginError(
            .invalidRequest, "\(authority.url) is one tenant's authority, which aad-common doesn't support",
            hint: "use the aad-tenant plugin, or /organizations in place of the tenant")
    }
}
