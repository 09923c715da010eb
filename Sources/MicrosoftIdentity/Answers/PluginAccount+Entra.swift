import Addresses
package import PluginWire

extension PluginAccount {
    /// Sets what is known of the account by its home tenant: its kind, the tenant's ID and, if the account is an
    /// organisation's and the tokens are for that tenant, its domain.
    ///
    /// - Parameters:
    ///   - realm: The tenant of the tokens.
    ///   - username: The user name according to the authority; nil if it doesn't say.
    ///   - isB2C: Whether the account is of Azure AD B2C.
    package mutating func setHome(tokensFor realm: String, username: String?, isB2C: Bool = false) {
        authorityType = "MSSTS"
        kind = isB2C ? "B2C" : "work or school"
        guard let tenant = homeAccountID.pieces(between: ".").last.map({ $0.lowercased() }), tenant.isUUID
        else { return }
        homeRealms = [tenant]
        if tenant == ClientInfo.personalTenant {
            kind = "personal"
        } else if !isB2C, tenant == realm.lowercased(), let domain = username?.mailDomain {
            homeRealms.append(domain)
        }
    }
}
