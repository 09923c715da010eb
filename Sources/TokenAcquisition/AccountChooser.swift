public import TokenStore

/// Asks the person which account is meant, where several could be.
public protocol AccountChooser: Sendable {
    /// Asks which of these it is.
    func choose(among accounts: [AccountRecord]) async -> AccountChoice
    /// Tells that an account was chosen and is the current one from now on.
    func confirm(_ account: AccountRecord) async
}

/// What the person chose.
public enum AccountChoice: Sendable, Equatable {
    /// This account.
    case account(AccountRecord)
    /// One that has yet to sign in.
    case another
    /// Nothing: the person doesn't want to go on.
    case cancelled
    /// The person can't be asked here.
    case unavailable
}
