import Addresses
import TokenStore

// What a plugin tells of an account, and another program's cache leaves to be read from MSAL's identifiers.

extension CredentialRecord {
    /// The record; of an account of Microsoft's with what its plugin would have told.
    var asItsPluginTellsIt: CredentialRecord {
        guard case .account(let account) = self else { return self }
        return .account(account.asItsPluginTellsIt)
    }
}

extension AccountRecord {
    /// Where all personal accounts are at home.
    private static let personalTenant = "9188040d-6c67-4c5b-b112-36a304b66dad"

    /// The account with its home, its kind, its B2C policy and an authority, as `uid.utid` has them; for B2C the uid is
    /// `oid-policy`.
    fileprivate var asItsPluginTellsIt: AccountRecord {
        guard homeRealms.isEmpty, authorityType.uppercased() == "MSSTS",
            let (uid, tenant) = homeAccountID.lowercased().cut(atLast: "."), !tenant.isEmpty
        else { return self }
        var account = self
        account.policy = Self.policy(uid)
        account.kind =
            account.policy != nil ? "B2C" : tenant == Self.personalTenant ? "personal" : "work or school"
        account.homeRealms = [String(tenant)]
        if account.kind == "work or school", realm.lowercased() == tenant,
            let (_, domain) = username.lowercased().cut(atLast: "@"), domain.hasBytes("."),
            domain.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        {
            account.homeRealms.append(String(domain))
        }
        account.authority =
            authority ?? account.policy.map { "https://\(environment)/tfp/\(realm)/\($0)" }
            ?? "https://\(environment)/\(tenant)"
        return account
    }

    /// The B2C policy: what follows the object id.
    private static func policy(_ uid: Substring) -> String? {
        let groups = uid.pieces(between: "-", maxSplits: 5, omittingEmpty: false)
        guard groups.count == 6, groups.prefix(5).joined(separator: "-").isUUID, !groups[5].isEmpty else { return nil }
        return String(groups[5])
    }
}
