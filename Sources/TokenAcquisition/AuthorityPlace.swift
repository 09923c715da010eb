import Addresses
import PluginHost
public import TokenStore

/// Where an authority's tokens are found in the store: its environment, realm and, for B2C, policy.
public struct AuthorityPlace: Sendable, Equatable {
    /// The tenant of personal Microsoft accounts.
    public static let consumersTenant = "9188040d-6c67-4c5b-b112-36a304b66dad"

    /// The host tokens are kept under.
    public var environment: String
    /// Every host of the environment, that one among them; lower-cased.
    public var aliases: [String]
    /// The realm that the authority names, lower-cased: `common`, a domain, a GUID.
    public var realm: String
    /// The B2C policy that the authority names, lower-cased.
    public var policy: String?

    /// Makes a place.
    public init(environment: String, aliases: [String], realm: String, policy: String?) {
        self.environment = environment
        self.aliases = aliases.map { $0.lowercased() }
        self.realm = realm.lowercased()
        self.policy = policy?.lowercased()
    }

    /// The place that a choice is for, with the hosts of its environment; nil if it is for all.
    init?(_ selected: SelectedAccount, aliases: [String]) {
        guard let path = selected.authority else { return nil }
        let names = path.pieces(between: "/", maxSplits: 1).map(String.init)
        self.init(
            environment: selected.environment, aliases: aliases, realm: names.first ?? "",
            policy: names.count > 1 ? names[1] : nil)
    }

    init(_ match: AuthorityMatch) {
        self.init(
            environment: match.environment, aliases: match.environmentHosts, realm: match.realm, policy: match.policy)
    }

    /// What tells the authority from others of its environment: `/contoso.com`, `/TENANT/POLICY`.
    public var path: String { "/" + [realm, policy].compactMap(\.self).joined(separator: "/") }

    /// The authority's URL, as far as it matters which accounts are used.
    public var url: String { "https://\(environment)\(path)" }

    /// Whether it is no tenant's own: every account that it owns is accepted.
    public var isOpen: Bool {
        policy != nil || realm.isEmpty || ["common", "organizations", "consumers"].contains(realm)
    }

    /// Whether an account may be used at this authority.
    public func owns(_ account: AccountRecord) -> Bool {
        guard aliases.contains(account.environment.lowercased()) else { return false }
        let home = account.homeAccountID.lowercased()
        if let policy { return home.pieces(between: ".").first?.hasSuffix("-\(policy)") == true }
        if case .b2c = account.kind { return false }
        switch realm {
        case "consumers": return account.homeTenant == Self.consumersTenant
        case "organizations": return account.homeTenant != Self.consumersTenant
        default: return true
        }
    }

    /// Whether a token is for this authority and account: of the realm asked, or of the account's home where any will do.
    public func owns(_ token: AccessTokenRecord, of account: AccountRecord) -> Bool {
        guard aliases.contains(token.environment.lowercased()) else { return false }
        guard token.homeAccountID.lowercased() == account.homeAccountID.lowercased() else { return false }
        if ["common", "organizations", "consumers"].contains(realm) {
            return token.realm.lowercased() == account.homeTenant
        }
        return token.realm.lowercased() == realm || token.wasRequested(in: realm)
    }

    /// How well an account's record stands for it here.
    func rank(_ account: AccountRecord) -> Int {
        let own = account.realm.lowercased()
        return own == realm ? 2 : own == account.homeTenant ? 1 : 0
    }
}

extension AccountRecord {
    /// The tenant the account comes from: the `utid` of `uid.utid`; lower-cased.
    public var homeTenant: String {
        homeAccountID.lowercased().cut(atLast: ".").map { String($0.1) } ?? ""
    }
}
