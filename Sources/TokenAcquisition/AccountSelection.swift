import Addresses
import JSON
public import Keyring
import Model

/// The accounts of one authority, and the choice among them for a request.
public struct AccountSelection: Sendable {
    /// The chosen account, and the reason for the choice.
    public struct Chosen: Sendable, Equatable {
        /// The account that the request gets its token for.
        public let account: AccountRecord
        /// The reason for the choice.
        public let reason: AccountReason
    }

    /// Every candidate, one record for each account: first those that were chosen for this authority, then those that
    /// it is known to accept, by user name.
    public let accounts: [AccountRecord]
    /// The accounts that were chosen for this authority, or for all authorities if this one is known to accept them;
    /// the most recent first.
    public let recent: [AccountRecord]
    private let choices: [Choice]
    /// Every record of each account, by the account's identifier.
    private let profiles: [String: [AccountRecord]]
    private let standings: AccountStandings
    private let isShared: Bool

    /// One of the user's choices, for whichever authority.
    private struct Choice {
        let account: AccountRecord
        let isForAll: Bool
        /// The reason that it gives here; nil if it doesn't apply here.
        let here: AccountReason?
    }

    /// Selects the accounts that belong to an authority's environment and, if it has one, to its policy.
    ///
    /// An account with several profiles is represented by the one of the authority's realm, or else by that of its
    /// home.
    ///
    /// - Parameters:
    ///   - records: The stored records; only accounts and tokens matter.
    ///   - place: The authority's place.
    ///   - clientID: The client whose tokens show which account is used here; nil for any client.
    ///   - history: The user's choices, the most recent first.
    ///   - isShared: Whether the device is shared. If so, several accounts are an error, whichever was
    ///     chosen.
    public init(
        _ records: StoredRecords, at place: AuthorityKey, clientID: String? = nil, history: [SelectedAccount] = [],
        isShared: Bool = false
    ) {
        let profiles = Dictionary(grouping: records.accounts.filter(place.owns)) { $0.homeAccountID.lowercased() }
        let standings = AccountStandings(records, at: place, clientID: clientID)
        let all = profiles.compactMapValues { own in own.max { place.rank($0) < place.rank($1) } }
        let choices = history.compactMap { selected -> Choice? in
            guard place.aliases.contains(selected.environment), let account = all[selected.homeAccountID] else {
                return nil
            }
            let isForAll = selected.authority == nil
            let counts = isForAll ? standings.isKnown(account) : selected.authority == place.path
            return Choice(
                account: account, isForAll: isForAll, here: counts ? (isForAll ? .selected : .selectedHere) : nil)
        }
        var left = all
        let recent = choices.filter { $0.here != nil }.compactMap {
            left.removeValue(forKey: $0.account.homeAccountID.lowercased())
        }
        func order(_ account: AccountRecord) -> (Int, String, String) {
            (standings.isKnown(account) ? 0 : 1, account.username, account.homeAccountID)
        }
        accounts = recent + left.values.sorted { order($0) < order($1) }
        self.recent = recent
        self.choices = choices
        self.profiles = profiles
        self.standings = standings
        self.isShared = isShared
    }

    /// Returns the accounts with this user name or identifier, ignoring case.
    ///
    /// Older tools stored a user name with surrounding blanks, or an object ID in one of the account's realms.
    public func account(named name: String) -> [AccountRecord] {
        accounts.filter { account in
            profiles[account.homeAccountID.lowercased(), default: []].contains { $0.isNamed(name) }
        }
    }

    /// Returns the account for a request and the reason for the choice; nil if nobody has signed in yet.
    ///
    /// It is the account that the request names, or else the one that the hint matches, or else the default choice. If
    /// the hint is known to be an account's user name, the only other candidates are accounts whose own name isn't
    /// known.
    ///
    /// - Throws: `AcquisitionError` if the named account hasn't signed in, or if there are several candidates.
    public func decision(
        named name: String?, hint: String?, hintIsAccount: Bool = false
    ) throws(AcquisitionError) -> Chosen? {
        if let name {
            let found = account(named: name)
            guard !found.isEmpty else { throw .noSuchAccount(name, known: accounts) }
            return try decision(among: found)?.because(.named)
        }
        guard let hint else { return try decision(among: accounts) }
        let found = account(named: hint)
        guard found.isEmpty else { return try decision(among: found)?.because(.username) }
        if hintIsAccount {
            let nameless = accounts.filter { !$0.hasUsername }
            guard !nameless.isEmpty else { throw .noSuchAccount(hint, known: accounts) }
            return try decision(among: nameless)
        }
        return hint.isAddress ? nil : try decision(among: accounts)
    }

    /// The account that is used if a request names none; nil if there is none, or if there are several candidates.
    public var used: AccountRecord? {
        do { return try decision(among: accounts)?.account } catch { return nil }
    }

    /// The account that was used before the current one: the one chosen before, or else the only other that is accepted
    /// here.
    public var previous: AccountRecord? {
        guard let used else { return nil }
        if let before = recent.first(where: { $0 != used }) { return before }
        let others = accounts.filter { $0 != used && isKnown($0) }
        return others.count == 1 ? others[0] : nil
    }

    /// Whether the authority is known to accept an account.
    public func isKnown(_ account: AccountRecord) -> Bool { standings.isKnown(account) }

    /// Chooses by the user's choices first, then by who has a token here, then by who is at home here.
    ///
    /// A choice for all authorities is ignored if other accounts are known here and the chosen one isn't: the realm
    /// would refuse it.
    private func decision(among candidates: [AccountRecord]) throws(AcquisitionError) -> Chosen? {
        guard candidates.count > 1 else {
            return candidates.first.map { Chosen(account: $0, reason: .onlyOne) }
        }
        guard !isShared else { throw .ambiguousAccount(candidates, isShared: true) }
        func last(_ isMeant: (Choice) -> Bool) -> Choice? {
            choices.first { candidates.contains($0.account) && isMeant($0) }
        }
        if let chosen = last({ $0.here != nil }) {
            return Chosen(account: chosen.account, reason: chosen.here ?? .selected)
        }
        let served = candidates.filter(standings.hasToken)
        if let one = served.only ?? last({ served.contains($0.account) })?.account {
            return Chosen(account: one, reason: .hasToken)
        }
        guard served.isEmpty else { throw .ambiguousAccount(candidates) }
        if let one = candidates.filter(standings.isAtHome).only { return Chosen(account: one, reason: .atHome) }
        let known = candidates.filter(isKnown)
        if let one = known.only { return Chosen(account: one, reason: .hasBeenHere) }
        guard known.isEmpty, let guest = last({ $0.isForAll }) else { throw .ambiguousAccount(candidates) }
        return Chosen(account: guest.account, reason: .selected)
    }
}

extension AccountSelection.Chosen {
    fileprivate func because(_ reason: AccountReason) -> Self { Self(account: account, reason: reason) }
}

extension Array {
    /// The element, if there is exactly one.
    fileprivate var only: Element? { count == 1 ? self[0] : nil }
}

extension AccountRecord {
    /// Whether a name that the user typed means this account: its user name, with or without its host, or an
    /// identifier.
    ///
    /// Case and surrounding blanks are ignored, as in ADAL's `userId`.
    public func isNamed(_ name: String) -> Bool {
        let wanted = name.trimmed().lowercased()
        guard !wanted.isEmpty else { return false }
        let names = [username, nameWithHost, homeAccountID, localAccountID, other["alternative_account_id"]?.text]
        return names.contains { $0?.trimmed().lowercased() == wanted }
    }

    /// The user name with its host, such as `bob@gitlab.contoso.com`; nil if the account has no user name.
    public var nameWithHost: String? { username.isEmpty ? nil : "\(username)@\(environment)" }

    /// Whether the issuer provided a user name, rather than only an identifier.
    public var hasUsername: Bool { !username.isEmpty && username != localAccountID }
}

/// Asks the user which account to use if there are several candidates.
public protocol AccountChooser: Sendable {
    /// Asks the user to choose one of these accounts.
    func choose(among accounts: [AccountRecord]) async -> AccountChoice
    /// Reports which account is used at this authority from now on.
    func confirm(_ account: AccountRecord, at place: AuthorityKey) async
}

/// The user's choice.
public enum AccountChoice: Sendable, Equatable {
    case account(AccountRecord)
    /// Another account, which has yet to sign in.
    case another
    /// No account: the user cancelled.
    case cancelled
    /// The user can't be asked here.
    case unavailable
}

/// Which accounts one authority is known to accept, judging by the stored records.
///
/// An authority with a single realm accepts the accounts at home there and its guests. A token or a record of that
/// realm shows that an account has been there. If the authority's URL names the realm by a domain, its ID is known once
/// a token was issued.
struct AccountStandings: Sendable {
    private let place: AuthorityKey
    /// The identifiers of the accounts for which the client has a token of this authority.
    private let served: Set<String>
    /// The identifiers of the accounts that have a record in this realm.
    private let visitors: Set<String>
    /// The identifiers of the accounts whose home is this realm.
    private let natives: Set<String>

    init(_ records: StoredRecords, at place: AuthorityKey, clientID: String?) {
        let here = records.all.filter { place.aliases.contains($0.environment.lowercased()) }
        // The names of the authority's realm: the one in its URL, and its ID.
        let names = place.names(in: here)
        func identifiers(_ isMeant: (CredentialRecord) -> Bool) -> Set<String> {
            Set(here.filter(isMeant).compactMap { $0.homeAccountID?.lowercased() })
        }
        self.place = place
        served = identifiers { record in
            guard let client = record.clientID, client.clientKey == clientID?.clientKey ?? client.clientKey
            else { return false }
            return place.isOpen || record.realm.map { names.contains($0.lowercased()) } ?? false
        }
        visitors = identifiers { $0.realm.map { names.contains($0.lowercased()) } ?? false }
        natives = identifiers { record in
            guard case .account(let account) = record else { return false }
            return !names.isDisjoint(with: account.homeRealms)
        }
    }

    /// Whether the client has one of the account's tokens for this authority.
    func hasToken(_ account: AccountRecord) -> Bool { served.contains(account.homeAccountID.lowercased()) }

    /// Whether the authority's realm is the account's home; no account is at home at an authority without a realm of
    /// its own.
    func isAtHome(_ account: AccountRecord) -> Bool {
        !place.isOpen && natives.contains(account.homeAccountID.lowercased())
    }

    /// Whether the authority is known to accept the account.
    func isKnown(_ account: AccountRecord) -> Bool {
        place.isOpen || isAtHome(account) || visitors.contains(account.homeAccountID.lowercased())
    }
}

extension AuthorityKey {
    /// Returns the names of the realm: the one in the authority's URL, and the ID under which it issued a token.
    fileprivate func names(in records: [CredentialRecord]) -> Set<String> {
        var names: Set = [realm]
        for record in records where record.wasRequested(in: realm) {
            if let id = record.realm?.lowercased() { names.insert(id) }
        }
        return names
    }
}

extension CredentialRecord {
    /// Whether the authority that issued the token was requested by a URL with this realm.
    fileprivate func wasRequested(in realm: String) -> Bool {
        switch self {
        case .accessToken(let record): record.wasRequested(in: realm)
        case .exchanged(let record): record.wasRequested(in: realm)
        case .account(let record): record.requestedRealm?.lowercased() == realm
        case .idToken, .refreshToken, .appMetadata: false
        }
    }
}
