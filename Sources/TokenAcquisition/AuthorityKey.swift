import Addresses
public import Keyring
public import PluginHost
import PluginWire

/// The location of an authority's tokens in the store: its environment, its realm and, if it has one, its policy.
public struct AuthorityKey: Sendable, Equatable {
    /// The host that tokens are stored under.
    public var environment: String
    /// Every host of the environment, including `environment`; lower-cased.
    public var aliases: [String]
    /// The realm in the authority's URL, lower-cased: an ID, a domain, the name of a shared realm, or a path with its
    /// capitals escaped.
    public var realm: String
    /// The kind of shared realm that the name stands for; nil if it is a single realm.
    public var sharedRealm: SharedRealm?
    /// The policy that the authority names, lower-cased; each policy has accounts of its own.
    public var policy: String?
    /// Whether only accounts of its own realm are accepted, because each path of its host is a separate issuer.
    public var isSeparate: Bool

    /// Creates a place from its parts.
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

    /// Creates the place that a choice is for, with the hosts of its environment; nil if the choice is for all
    /// authorities.
    init?(_ selected: SelectedAccount, aliases: [String]) {
        guard let path = selected.authority else { return nil }
        let names = path.pieces(between: "/", maxSplits: 1).map(String.init)
        self.init(
            environment: selected.environment, aliases: aliases, realm: names.first ?? "",
            policy: names.count > 1 ? names[1] : nil)
    }

    /// Creates the place of a known authority.
    public init(_ match: AuthorityMatch) {
        self.init(
            environment: match.environment, aliases: match.environmentHosts, realm: match.realm,
            sharedRealm: match.sharedRealm, policy: match.policy, isSeparate: match.isSeparate)
    }

    /// The path that distinguishes the authority within its environment: `/contoso.com`, `/REALM/POLICY`.
    public var path: String { "/" + [realm, policy].compactMap(\.self).joined(separator: "/") }

    /// The authority's URL, reduced to the parts that decide which accounts are used.
    public var url: String {
        let isHost = isSeparate && realm == PluginProtocol.realmOfHost
        return "https://\(environment)" + (isHost ? "" : path.percentDecoded ?? path)
    }

    /// What equal scopes have in common: at Entra they have no case, at any other issuer they do (RFC 6749, 3.3).
    func scopeKeys(_ scopes: [String]) -> Set<String> { Set(isSeparate ? scopes : scopes.map { $0.lowercased() }) }

    /// Whether accounts of any realm are accepted, as by a shared realm or a policy.
    public var isOpen: Bool { policy != nil || realm.isEmpty || sharedRealm != nil }

    /// Whether an account may be used at this authority.
    public func owns(_ account: AccountRecord) -> Bool {
        guard aliases.contains(account.environment.lowercased()) else { return false }
        guard account.policy == policy, !isSeparate || account.realm.lowercased() == realm else { return false }
        return sharedRealm?.takes(home: account.homeRealm) ?? true
    }

    /// Whether a token, or what one was exchanged for, is for this authority and account: of the realm asked, or of the account's
    /// home if any will do.
    ///
    /// Without an account, only what belongs to no account counts.
    package func owns(_ record: some GrantedRecord, of account: AccountRecord?) -> Bool {
        guard aliases.contains(record.environment.lowercased()),
            record.homeAccountID?.lowercased() == account?.homeAccountID.lowercased()
        else { return false }
        return isMeant(realm: record.realm, of: account) ?? record.wasRequested(in: realm)
    }

    /// Whether the authority means the realm with this ID for an account; nil if only a name can tell.
    private func isMeant(realm id: String, of account: AccountRecord?) -> Bool? {
        if sharedRealm != nil, let home = account?.homeRealm { return id.lowercased() == home }
        return id.lowercased() == realm ? true : nil
    }

    /// Ranks an account's records for this authority: its own realm first, then the account's home.
    func rank(_ account: AccountRecord) -> Int {
        let own = account.realm.lowercased()
        return own == realm ? 2 : own == account.homeRealm ? 1 : 0
    }
}
