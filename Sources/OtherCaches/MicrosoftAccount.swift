import Addresses
import TokenStore

// The facts about an account that a plugin returns, but that other programs' caches only have in MSAL's identifiers.

extension CredentialRecord {
    /// The record; for a Microsoft account, with the facts that its plugin would have returned.
    var asItsPluginTellsIt: CredentialRecord {
        guard case .account(let account) = self else { return self }
        return .account(account.asItsPluginTellsIt)
    }
}

extension AccountRecord {
    /// The home tenant of all personal accounts.
    private static let personalTenant = "9188040d-6c67-4c5b-b112-36a304b66dad"

    /// MSAL's type of authority for Microsoft's own accounts, which it assumes if an entry has none.
    static let microsoft = "MSSTS"

    /// Whether the account is Microsoft's.
    var isMicrosofts: Bool { authorityType.map { $0.uppercased() == Self.microsoft } ?? true }

    /// The account with its home, its kind, its B2C policy and an authority, derived from `uid.utid`; for B2C, the uid
    /// is `oid-policy`.
    fileprivate var asItsPluginTellsIt: AccountRecord {
        guard homeRealms.isEmpty, isMicrosofts,
            let (uid, tenant) = homeAccountID.lowercased().cut(atLast: "."), !tenant.isEmpty
        else { return self }
        var account = self
        account.authorityType = authorityType ?? Self.microsoft
        account.policy = Self.policy(uid)
        account.kind =
            account.policy != nil ? "B2C" : tenant == Self.personalTenant ? "personal" : "work or school"
        account.homeRealms = [String(tenant)]
        if account.kind == "work or school", realm.lowercased() == tenant, let domain = username.mailDomain {
            account.homeRealms.append(domain)
        }
        account.authority =
            authority ?? account.policy.map { "https://\(environment)/tfp/\(realm)/\($0)" }
            ?? "https://\(environment)/\(tenant)"
        return account
    }

    /// Returns the B2C policy, which follows the object ID.
    private static func policy(_ uid: Substring) -> String? {
        let groups = uid.pieces(between: "-", maxSplits: 5, omittingEmpty: false)
        guard groups.count == 6, groups.prefix(5).joined(separator: "-").isUUID, !groups[5].isEmpty else { return nil }
        return String(groups[5])
    }
}
