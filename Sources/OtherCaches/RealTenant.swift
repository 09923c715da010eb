import Addresses
import Claims
import JSON
import Secrets
import TokenStore

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

extension CredentialRecord {
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
