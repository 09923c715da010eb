import Addresses
import JSON
public import TokenStore

/// The accounts of one authority, and which of them a request means.
public struct AccountSelection: Sendable {
    /// Every account that could be meant, one record each: those that were chosen before first, then by user name.
    public let accounts: [AccountRecord]
    /// The accounts that were chosen before, the last one first.
    public let recent: [AccountRecord]
    /// Every record of each account, by its identifier.
    private let profiles: [String: [AccountRecord]]
    private let isShared: Bool

    /// Takes the accounts that belong to an authority's environment and, for B2C, to its policy.
    ///
    /// Of an account with several tenant profiles, the one of the authority's realm stands for it, else its home's.
    ///
    /// - Parameters:
    ///   - records: the accounts that are stored.
    ///   - place: the authority's.
    ///   - history: the accounts that the person chose, the last one first.
    ///   - isShared: whether the device is shared: then only the account that has signed in alone is meant by itself.
    public init(
        _ records: [AccountRecord], at place: AuthorityPlace, history: [SelectedAccount] = [], isShared: Bool = false
    ) {
        let profiles = Dictionary(grouping: records.filter(place.owns)) { $0.homeAccountID.lowercased() }
        let chosen = profiles.compactMapValues { own in own.max { place.rank($0) < place.rank($1) } }
        var left = chosen
        recent = history.compactMap { selected in
            guard place.aliases.contains(selected.environment) else { return nil }
            return left.removeValue(forKey: selected.homeAccountID)
        }
        let others = left.values.sorted { ($0.username, $0.homeAccountID) < ($1.username, $1.homeAccountID) }
        accounts = recent + others
        self.profiles = profiles
        self.isShared = isShared
    }

    /// The accounts that a name means: a user name or an identifier, whatever its case.
    ///
    /// Older tools named an account by its user name with blanks around, or by its object id in one of its tenants.
    public func account(named name: String) -> [AccountRecord] {
        accounts.filter { account in
            profiles[account.homeAccountID.lowercased(), default: []].contains { $0.isNamed(name) }
        }
    }

    /// The account for a request.
    ///
    /// It is the one that the request names, else the one that its user name happens to be, else the one chosen last, else
    /// the only one. Nil where nobody has signed in yet.
    ///
    /// - Throws: `AcquisitionError` where the named account has not signed in, or several could be meant.
    public func account(named name: String?, hint: String?) throws(AcquisitionError) -> AccountRecord? {
        if let name {
            let found = account(named: name)
            guard !found.isEmpty else { throw .noSuchAccount(name, known: accounts) }
            return try settled(among: found)
        }
        guard let hint else { return try settled(among: accounts) }
        let found = account(named: hint)
        if found.isEmpty, hint.hasBytes("@") { return nil }
        return try settled(among: found.isEmpty ? accounts : found)
    }

    private func settled(among candidates: [AccountRecord]) throws(AcquisitionError) -> AccountRecord? {
        if candidates.count <= 1 { return candidates.first }
        guard !isShared, let chosen = recent.first(where: candidates.contains) else {
            throw .ambiguousAccount(candidates, isShared: isShared)
        }
        return chosen
    }
}

extension AccountRecord {
    /// Whether a person's word for an account means this one: its user name or one of its identifiers.
    ///
    /// Case and blanks around don't count, as ADAL had it with its `userId`.
    public func isNamed(_ name: String) -> Bool {
        let wanted = name.trimmed().lowercased()
        guard !wanted.isEmpty else { return false }
        let names = [username, homeAccountID, localAccountID ?? "", other["alternative_account_id"]?.text ?? ""]
        return names.contains { $0.trimmed().lowercased() == wanted }
    }
}
