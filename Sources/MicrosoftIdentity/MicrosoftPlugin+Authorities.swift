import PluginWire

extension MicrosoftPlugin {
    /// Microsoft Entra ID for accounts of any tenant: `https://{host}/common`, `/organizations` and `/consumers`.
    ///
    /// Tokens are stored for the account's home tenant, and renewed there.
    package static let aadCommon = MicrosoftPlugin(
        AuthorityProfile(
            name: "aad-common", kind: .aad,
            refuses: { authority in
                guard authority.audience == .identifier else { return nil }
                return PluginError(
                    .invalidRequest, "\(authority.url) is one tenant's authority, which aad-common doesn't support",
                    hint: "use the aad-tenant plugin, or /organizations in place of the tenant")
            }, exchanges: true))

    /// Microsoft Entra ID for the accounts of one tenant, including guests: `https://{host}/{id or domain}`.
    ///
    /// Tokens are stored for that tenant under its ID, however the authority's URL names it.
    package static let aadTenant = MicrosoftPlugin(
        AuthorityProfile(
            name: "aad-tenant", kind: .aad,
            refuses: { authority in
                guard authority.audience != .identifier else { return nil }
                return PluginError(
                    .invalidRequest, "\(authority.url) names no tenant, and aad-tenant supports nothing else",
                    hint: "use the aad-common plugin, or put the tenant's id or domain into the URL")
            }, exchanges: true, identities: true))

    /// Azure AD B2C: `https://{host}/tfp/{tenant}/{policy}` or `/{tenant}/{policy}`; accounts are separate for each policy.
    package static let aadB2C = MicrosoftPlugin(
        AuthorityProfile(
            name: "aad-b2c", kind: .b2c, explains: PolicyError.explain,
            forgottenPassword: PolicyError.forgottenPassword))
}
