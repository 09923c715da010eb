import Addresses
import Claims
import JSON
import Keyring
import Secrets

// The facts about an account that a plugin returns, but that other programs' caches only have in MSAL's identifiers.

extension CredentialRecord {
    /// The record; for a Microsoft account, with the facts that its plugin would have returned.
    var asItsPluginTellsIt: CredentialRecord {
        guard case .account(let account) = self else { return self }
        return .account(account.asItsPluginTellsIt)
    }

    /// Whether it is stored under a realm that stands for the accounts of many tenants.
    fileprivate var isOfManyTenants: Bool {
        ["common", "organizations", "consumers"].contains(realm?.lowercased())
    }

    fileprivate func moved(to tenant: String) -> CredentialRecord {
        switch self {
        case .accessToken(var record):
            record.requestedRealm = record.requestedRealm ?? record.realm.lowercased()
            record.realm = tenant
            return .accessToken(record)
        case .idToken(var record):
            record.realm = tenant
            return .idToken(record)
        case .account(var record):
            record.realm = tenant
            return .account(record)
        case .refreshToken, .appMetadata, .exchanged: return self
        }
    }

    /// Returns the tenant in `uid.utid`; nil if there is none.
    fileprivate static func homeTenant(of identifier: String) -> String? {
        identifier.cut(atLast: ".").flatMap { $1.isEmpty ? nil : String($1) }
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

// MSAL for Python stores a record under the realm in the authority's URL, even if it is `organizations`. What such an
// authority issued is for the account's own tenant, and is looked up there.

extension [CredentialRecord] {
    /// The records, with those that are stored under a name for many tenants moved to the tenant that they are for.
    ///
    /// That is the tenant in an ID token of the same account and client, or else the account's home. If there is
    /// neither, a record stays as it is.
    var atTheirTenants: [CredentialRecord] {
        let tenants = tenantsInIDTokens
        return map { record in
            guard record.isOfManyTenants, let home = record.homeAccountID?.lowercased() else { return record }
            let told = record.clientID.flatMap { tenants["\(home) \($0.lowercased())"] }
            guard let tenant = told ?? CredentialRecord.homeTenant(of: home) else { return record }
            return record.moved(to: tenant)
        }
    }

    /// The tenants in the ID tokens that are stored under such a name, by account and client.
    private var tenantsInIDTokens: [String: String] {
        var tenants: [String: String] = [:]
        for case .idToken(let token) in self where CredentialRecord.idToken(token).isOfManyTenants {
            guard let tenant = WebToken.claims(of: token.secret.reveal())?["tid"]?.string, !tenant.isEmpty else {
                continue
            }
            tenants["\(token.homeAccountID) \(token.clientID)".lowercased()] = tenant.lowercased()
        }
        return tenants
    }
}

/// Azure's clouds, by the names that programs for them use.
public enum AzureCloud {
    private static let hosts = [
        "azureusgovernmentcloud": "login.microsoftonline.us", "azureusgovernment": "login.microsoftonline.us",
        "azurechinacloud": "login.partner.microsoftonline.cn",
    ]

    /// Returns a tenant's authority in a cloud; nil for the public cloud, and for unknown ones.
    public static func authority(ofTenant tenant: String, in cloud: String?) -> String? {
        cloud.flatMap { hosts[$0.lowercased()] }.map { "https://\($0)/\(tenant)" }
    }
}
