package import MicrosoftIdentity
import PluginWire

extension MicrosoftPlugin {
    /// Microsoft Entra ID for accounts of any tenant: `https://{host}/common`, `/organizations` and `/consumers`.
    ///
    /// Tokens are stored for the account's home tenant, and renewed there.
    package static let aadCommon = MicrosoftPlugin(
        AuthorityProfile(name: "aad-common", kind: .aad, refuses: Self.objection, exchanges: true))

    private static func objection(to authority: Authority) -> PluginError? {
        guard authority.audience == .identifier else { return nil }
        return PluginError(
            .invalidRequest, "\(authority.url) is one tenant's authority, which aad-common doesn't support",
            hint: "use the aad-tenant plugin, or /organizations in place of the tenant")
    }
}
