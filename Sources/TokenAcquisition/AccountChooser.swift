public import TokenStore

/// Asks the user which account to use if there are several candidates.
public protocol AccountChooser: Sendable {
    /// Asks the user to choose one of these accounts.
    func choose(among accounts: [AccountRecord]) async -> AccountChoice
    /// Reports which account is used at this authority from now on.
    func confirm(_ account: AccountRecord, at place: AuthorityPlace) async
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
