import Addresses
import JSON
import Rules
public import TokenStore

/// The accounts of one authority, and which of them a request means.
public struct AccountSelection: Sendable {
    /// The account that is meant, and why it is that one.
    public struct Decision: Sendable, Equatable {
        /// The account that a request gets its token for.
        public let account: AccountRecord
        /// How it was chosen.
        public let choice: AccountReason
    }

    /// Every account that could be meant, one record each: those that were chosen for this authority first, then those that
    /// it is known to accept, by user name.
    public let accounts: [AccountRecord]
    /// The accounts that were chosen for this authority, or for all if this one is known to accept them; the last one first.
    public let recent: [AccountRecord]
    private let choices: [Choice]
    /// Every record of each account, by its identifier.
    private let profiles: [String: [AccountRecord]]
    private let standings: AccountStandings
    private let isShared: Bool

    /// One choice of the person's, whatever it was for.
    private struct Choice {
        let account: AccountRecord
        let isForAll: Bool
        /// Nil if it doesn't count here.
        let here: AccountReason?
    }

    /// Takes the accounts that belong to an authority's environment and, if it has one, to its policy.
    ///
    /// Of an account with several profiles, the one of the authority's realm stands for it, else its home's.
    ///
    /// - Parameters:
    ///   - records: what is stored; accounts and tokens count.
    ///   - place: the authority's.
    ///   - clientID: whose tokens tell which account is used here; nil for any client's.
    ///   - history: what the person chose, the last choice first.
    ///   - isShared: whether the device is shared: then only the account that has signed in alone is meant by itself.
    public init(
        _ records: StoredRecords, at place: AuthorityPlace, clientID: String? = nil, history: [SelectedAccount] = [],
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

    /// The accounts that a name means: a user name or an identifier, whatever its case.
    ///
    /// Older tools named an account by its user name with blanks around, or by its object id in one of its realms.
    public func account(named name: String) -> [AccountRecord] {
        accounts.filter { account in
            profiles[account.homeAccountID.lowercased(), default: []].contains { $0.isNamed(name) }
        }
    }

    /// The account for a request, and how it was chosen; nil if nobody has signed in yet.
    ///
    /// It is the one that the request names, else the one that its user name happens to be, else the one of `decision`. If
    /// the user name is known to be an account's, only those whose own name nobody knows may be meant instead.
    ///
    /// - Throws: `AcquisitionError` if the named account has not signed in, or several could be meant.
    public func decision(
        named name: String?, hint: String?, hintIsAccount: Bool = false
    ) throws(AcquisitionError) -> Decision? {
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

    /// The account that is used if a request names none; nil if it is nobody's, or several could be meant.
    public var used: AccountRecord? {
        do { return try decision(among: accounts)?.account } catch { return nil }
    }

    /// The account that was used before that one: the one chosen before, else the only other that is accepted here.
    public var previous: AccountRecord? {
        guard let used else { return nil }
        if let before = recent.first(where: { $0 != used }) { return before }
        let others = accounts.filter { $0 != used && isKnown($0) }
        return others.count == 1 ? others[0] : nil
    }

    /// Whether the authority is known to accept an account.
    public func isKnown(_ account: AccountRecord) -> Bool { standings.isKnown(account) }

    /// What the person chose decides, then who has a token here, then who is at home here.
    ///
    /// A choice for all does not count while others are known here and the account is not: the realm would refuse it.
    private func decision(among candidates: [AccountRecord]) throws(AcquisitionError) -> Decision? {
        guard candidates.count > 1 else {
            return candidates.first.map { Decision(account: $0, choice: .onlyOne) }
        }
        guard !isShared else { throw .ambiguousAccount(candidates, isShared: true) }
        func last(_ isMeant: (Choice) -> Bool) -> Choice? {
            choices.first { candidates.contains($0.account) && isMeant($0) }
        }
        if let chosen = last({ $0.here != nil }) {
            return Decision(account: chosen.account, choice: chosen.here ?? .selected)
        }
        let served = candidates.filter(standings.hasToken)
        if let one = served.only ?? last({ served.contains($0.account) })?.account {
            return Decision(account: one, choice: .hasToken)
        }
        guard served.isEmpty else { throw .ambiguousAccount(candidates) }
        if let one = candidates.filter(standings.isAtHome).only { return Decision(account: one, choice: .atHome) }
        let known = candidates.filter(isKnown)
        if let one = known.only { return Decision(account: one, choice: .hasBeenHere) }
        guard known.isEmpty, let guest = last({ $0.isForAll }) else { throw .ambiguousAccount(candidates) }
        return Decision(account: guest.account, choice: .selected)
    }
}

extension AccountSelection.Decision {
    fileprivate func because(_ choice: AccountReason) -> Self { Self(account: account, choice: choice) }
}

extension Array {
    /// The element, if there is just one.
    fileprivate var only: Element? { count == 1 ? self[0] : nil }
}

extension AccountRecord {
    /// Whether a person's word for an account means this one: its user name, with its host or without, or an identifier.
    ///
    /// Case and blanks around don't count, as ADAL had it with its `userId`.
    public func isNamed(_ name: String) -> Bool {
        let wanted = name.trimmed().lowercased()
        guard !wanted.isEmpty else { return false }
        let names = [username, nameWithHost, homeAccountID, localAccountID, other["alternative_account_id"]?.text]
        return names.contains { $0?.trimmed().lowercased() == wanted }
    }

    /// The user name at its host, `bob@gitlab.contoso.com`; nil if it has none.
    public var nameWithHost: String? { username.isEmpty ? nil : "\(username)@\(environment)" }

    /// Whether its issuer told a user name, and not merely what identifies it.
    public var hasUsername: Bool { !username.isEmpty && username != localAccountID }
}
