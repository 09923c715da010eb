public import TokenStore

/// Asks the person which account is meant, if several could be.
public protocol AccountChooser: Sendable {
    /// Asks which of these it is.
    func choose(among accounts: [AccountRecord]) async -> AccountChoice
    /// Tells that an account was chosen and is used at this authority from now on.
    func confirm(_ account: AccountRecord, at place: AuthorityPlace) async
}

/// What the person chose.
public enum AccountChoice: Sendable, Equatable {
    case account(AccountRecord)
    /// One that has yet to sign in.
    case another
    /// Nothing: the person doesn't want to go on.
    case cancelled
    /// The person can't be asked here.
    case unavailable
}
