public import TokenStore

/// The accounts of one authority, and which of them a request means.
public struct AccountSelection: Sendable {
    /// Every account that could be meant, one record each, by user name.
    public let accounts: [AccountRecord]

    /// Takes the accounts that belong to an authority's environment and, for B2C, to its policy.
    ///
    /// Of an account with several tenant profiles, the one of the authority's realm stands for it, else its home's.
    public init(_ records: [AccountRecord], at place: AuthorityPlace) {
        var chosen: [String: AccountRecord] = [:]
        for record in records where place.owns(record) {
            let id = record.homeAccountID.lowercased()
            guard let other = chosen[id] else {
                chosen[id] = record
                continue
            }
            if place.rank(record) > place.rank(other) { chosen[id] = record }
        }
        accounts = chosen.values.sorted { ($0.username, $0.homeAccountID) < ($1.username, $1.homeAccountID) }
    }

    /// The account of that user name, whatever its case, or home account id.
    public func account(named name: String) -> [AccountRecord] {
        let wanted = name.lowercased()
        return accounts.filter { $0.username.lowercased() == wanted || $0.homeAccountID.lowercased() == wanted }
    }

    /// The account for a request: the one it names, else the one its user name happens to be, else the only one.
    ///
    /// Nil where nobody has signed in yet.
    ///
    /// - Throws: `AcquisitionError` where the named account has not signed in, or several could be meant.
    public func account(named name: String?, hint: String?) throws(AcquisitionError) -> AccountRecord? {
        if let name {
            let found = account(named: name)
            guard found.count <= 1 else { throw .ambiguousAccount(found) }
            guard let account = found.first else { throw .noSuchAccount(name, known: accounts) }
            return account
        }
        if let hint {
            let found = account(named: hint)
            if found.count == 1 { return found.first }
            if found.isEmpty, hint.contains("@") { return nil }
        }
        guard accounts.count <= 1 else { throw .ambiguousAccount(accounts) }
        return accounts.first
    }
}
