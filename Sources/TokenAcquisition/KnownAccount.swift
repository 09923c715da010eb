import Addresses
public import Keyring
public import PluginHost

/// An account with everything in the store about it: its records, where it is used, and by which clients.
public struct KnownAccount: Sendable, Equatable {
    /// The record that represents it: its home's, if there is one.
    public let account: AccountRecord
    /// Its record in each realm, the home's first.
    public let profiles: [AccountRecord]
    /// Whether its home realm is one that many accounts share, such as that of all personal accounts.
    public let isHomeShared: Bool
    /// The hosts of its environment under which its records are stored.
    public let environments: Set<String>
    /// The keys of the clients that have a token of the account.
    public let clientIDs: [String]
    /// The ID token of each of its clients in each realm; their claims are what the authority says about the user.
    public let idTokens: [IDTokenRecord]
    /// Whether it has a refresh token or came from the machine's broker, so that it need not sign in again.
    public let canRenew: Bool
    /// The plugin that got it from a broker's sign-in; nil if the user signed in to lanyard.
    public var broker: String? { account.broker ?? profiles.lazy.compactMap(\.broker).first }

    /// Whether a name that the user typed means this account.
    public func isNamed(_ name: String) -> Bool { profiles.contains { $0.isNamed(name) } }

    /// Whether the selection names this account, under any host of its environment.
    public func isSelected(_ selected: SelectedAccount) -> Bool {
        selected.homeAccountID == account.homeAccountID.lowercased() && environments.contains(selected.environment)
    }
}

extension KnownAccount {
    /// Creates an account that only a broker has, of which nothing is stored.
    public init(_ username: String, of broker: PluginManifest, at place: AuthorityKey) {
        var account = AccountRecord(
            homeAccountID: "", environment: place.environment, realm: "", username: username)
        account.broker = broker.name
        account.kind = ""
        self.account = account
        profiles = []
        idTokens = []
        isHomeShared = false
        environments = []
        clientIDs = []
        canRenew = true
    }

    /// Returns every account among the records, by user name, under its environment's first host.
    static func all(_ records: StoredRecords, registry: PluginRegistry) -> [KnownAccount] {
        let environments = registry.plugins.flatMap(\.environments)
        let sharedHomes = Set(registry.plugins.flatMap(\.sharedRealms).flatMap(\.homes))
        func folded(_ host: String) -> String {
            let host = host.lowercased()
            return environments.first { $0.contains(host) }?.first ?? host
        }
        let tokens = Dictionary(grouping: records.all.filter { $0.clientID != nil && $0.homeAccountID != nil }) {
            "\($0.homeAccountID?.lowercased() ?? "") \(folded($0.environment))"
        }
        let groups = Dictionary(grouping: records.accounts) {
            "\($0.homeAccountID.lowercased()) \(folded($0.environment))"
        }
        return groups.compactMap { key, group -> KnownAccount? in
            let profiles = group.sorted { ($0.isHome ? 0 : 1, $0.realm) < ($1.isHome ? 0 : 1, $1.realm) }
            guard let account = profiles.first else { return nil }
            let place = folded(account.environment)
            let own = tokens[key] ?? []
            let hosts = environments.first { $0.contains(place) } ?? []
            return KnownAccount(
                account: account, profiles: profiles,
                isHomeShared: account.homeRealm.map(sharedHomes.contains) ?? false,
                environments: Set(hosts + profiles.map { $0.environment.lowercased() }),
                clientIDs: Set(own.compactMap { $0.clientID?.clientKey }).sorted(),
                idTokens: own.compactMap { if case .idToken(let token) = $0 { token } else { nil } },
                canRenew: own.contains { if case .refreshToken = $0 { true } else { false } }
                    || profiles.contains { $0.broker != nil })
        }.sorted { ($0.account.username, $0.account.homeAccountID) < ($1.account.username, $1.account.homeAccountID) }
    }
}

extension AccountRecord {
    /// Whether this is the account's record in its home realm; it is, if the plugin names no home.
    public var isHome: Bool { homeRealm.map { realm.lowercased() == $0 } ?? true }
}

/// The records to remove when clients sign an account out, and the clients that keep some.
///
/// The clients' own tokens are removed. So is the refresh token of a client's family, which would otherwise sign it in
/// again silently; the family's other clients keep their access tokens until these expire. The account is removed with
/// its last token. MSAL for Objective-C removes a client's own tokens as well. MSAL for Python also removes other
/// clients' access tokens "to avoid the complexity of locating" those of siblings; here no other client could expect
/// that. Client metadata stays.
struct SignOutPlan {
    let removed: [CredentialRecord]
    /// The keys of the clients that still have a token of the account.
    let remaining: [String]
    /// The refresh tokens among the removed records.
    var refreshTokens: [RefreshTokenRecord] {
        removed.compactMap { if case .refreshToken(let token) = $0 { token } else { nil } }
    }

    /// Makes the plan from the records of one account and its environment.
    ///
    /// - Parameters:
    ///   - records: The account's stored records, and the metadata of clients.
    ///   - clientIDs: The keys of the clients that sign out; nil for every client.
    init(_ records: StoredRecords, clientIDs: Set<String>?) {
        let tokens = records.all.filter { $0.clientID != nil && $0.homeAccountID != nil }
        let accounts = records.accounts.map(CredentialRecord.account)
        guard let clientIDs else {
            removed = tokens + accounts
            remaining = []
            return
        }
        let members = records.appMetadata.filter { clientIDs.contains($0.clientID.clientKey) }
        let families = Set(members.compactMap(\.familyID).filter { !$0.isEmpty })
        func goes(_ record: CredentialRecord) -> Bool {
            if case .refreshToken(let token) = record, let family = token.familyID, families.contains(family) {
                return true
            }
            return record.clientID.map { clientIDs.contains($0.clientKey) } ?? false
        }
        let left = tokens.filter { !goes($0) }
        removed = tokens.filter(goes) + (left.isEmpty ? accounts : [])
        remaining = Set(left.compactMap { $0.clientID?.clientKey }).sorted()
    }
}
