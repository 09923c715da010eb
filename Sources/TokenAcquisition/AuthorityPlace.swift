import Addresses
public import PluginHost
import PluginWire
public import TokenStore

/// Where an authority's tokens are found in the store: its environment, its realm and, if it has one, its policy.
public struct AuthorityPlace: Sendable, Equatable {
    /// The host tokens are kept under.
    public var environment: String
    /// Every host of the environment, that one among them; lower-cased.
    public var aliases: [String]
    /// The realm that the authority names, lower-cased: its id, a domain, a shared realm's name.
    public var realm: String
    /// What the realm stands for, if it is none itself.
    public var sharedRealm: SharedRealm?
    /// The policy that the authority names, lower-cased; each has accounts of its own.
    public var policy: String?
    /// Whether it takes the accounts of its own realm only: each path of its host is an issuer by itself.
    public var isSeparate: Bool

    /// Makes a place.
    public init(
        environment: String, aliases: [String], realm: String, sharedRealm: SharedRealm? = nil, policy: String?,
        isSeparate: Bool = false
    ) {
        self.environment = environment
        self.aliases = aliases.map { $0.lowercased() }
        self.realm = realm.lowercased()
        self.sharedRealm = sharedRealm
        self.policy = policy?.lowercased()
        self.isSeparate = isSeparate
    }

    /// The place that a choice is for, with the hosts of its environment; nil if it is for all.
    init?(_ selected: SelectedAccount, aliases: [String]) {
        guard let path = selected.authority else { return nil }
        let names = path.pieces(between: "/", maxSplits: 1).map(String.init)
        self.init(
            environment: selected.environment, aliases: aliases, realm: names.first ?? "",
            policy: names.count > 1 ? names[1] : nil)
    }

    /// The place of a known authority.
    public init(_ match: AuthorityMatch) {
        self.init(
            environment: match.environment, aliases: match.environmentHosts, realm: match.realm,
            sharedRealm: match.sharedRealm, policy: match.policy, isSeparate: match.isSeparate)
    }

    /// What tells the authority from others of its environment: `/contoso.com`, `/REALM/POLICY`.
    public var path: String { "/" + [realm, policy].compactMap(\.self).joined(separator: "/") }

    /// The authority's URL, as far as it matters which accounts are used.
    public var url: String {
        let isHost = isSeparate && realm == PluginProtocol.realmOfHost
        return "https://\(environment)" + (isHost ? "" : path)
    }

    /// Whether it is no realm's own: every account that it owns is accepted.
    public var isOpen: Bool { policy != nil || realm.isEmpty || sharedRealm != nil }

    /// Whether an account may be used at this authority.
    public func owns(_ account: AccountRecord) -> Bool {
        guard aliases.contains(account.environment.lowercased()) else { return false }
        guard account.policy == policy, !isSeparate || account.realm.lowercased() == realm else { return false }
        return sharedRealm?.takes(home: account.homeRealm) ?? true
    }

    /// Whether a token, or what one was exchanged for, is for this authority and account: of the realm asked, or of the account's
    /// home if any will do.
    package func owns(_ record: some GrantedRecord, of account: AccountRecord) -> Bool {
        guard aliases.contains(record.environment.lowercased()),
            record.homeAccountID.lowercased() == account.homeAccountID.lowercased()
        else { return false }
        return isMeant(realm: record.realm, of: account) ?? record.wasRequested(in: realm)
    }

    /// Whether a realm by its id is the one that the authority means for an account; nil if only a name can tell.
    private func isMeant(realm id: String, of account: AccountRecord) -> Bool? {
        if sharedRealm != nil, let home = account.homeRealm { return id.lowercased() == home }
        return id.lowercased() == realm ? true : nil
    }

    /// How well an account's record stands for it here.
    func rank(_ account: AccountRecord) -> Int {
        let own = account.realm.lowercased()
        return own == realm ? 2 : own == account.homeRealm ? 1 : 0
    }
}
