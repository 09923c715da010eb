package import MicrosoftIdentity
import PluginWire

extension MicrosoftPlugin {
    /// Microsoft Entra ID for the accounts of one tenant, including guests: `https://{host}/{id or domain}`.
    ///
    /// Tokens are stored for that tenant under its ID, however the authority's URL names it.
    package static let aadTenant = MicrosoftPlugin(
        AuthorityProfile(name: "aad-tenant", kind: .aad, refuses: Self.objection, exchanges: true, identities: true))

    private static func objection(to authority: Authority) -> PluginError? {
        guard authority.audience != .identifier else { return nil }
        return PluginError(
            .invalidRequest, "\(authority.url) names no tenant, and aad-tenant supports nothing else",
            hint: "use the aad-common plugin, or put the tenant's id or domain into the URL")
    }
}
