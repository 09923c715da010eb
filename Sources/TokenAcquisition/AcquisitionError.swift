public import PluginWire
public import Rules
public import TokenStore

/// Why there is no token.
public enum AcquisitionError: Error, Sendable, Equatable {
    /// No installed plugin serves the authority.
    case unknownAuthority(String)
    /// Several accounts could be meant, and the request names none; on a shared device no choice settles it.
    case ambiguousAccount([AccountRecord], isShared: Bool = false)
    /// The person was asked which account is meant, and chose none.
    case noAccountChosen
    /// The account that was named has not signed in.
    case noSuchAccount(String, known: [AccountRecord])
    /// Only the person can go on, and nobody is there; with what the authority said, where it was asked, and the account
    /// that is meant, if it has signed in.
    case interactionRequired(PluginError?, account: AccountRecord? = nil)
    /// Another account signed in than the one that was named; it is kept, with all that are known.
    case wrongAccount(wanted: String, signedIn: AccountRecord, known: [AccountRecord])
    /// The authority granted less than was asked; what it granted is kept.
    case scopesDeclined(granted: [String], declined: [String])
    /// The authority wants the client's secret, and none is stored.
    case noClientSecret
    /// What proves the identity isn't in the keyring, or not in the variable that should have it.
    case noIdentitySecret(Identity, variable: String?)
    /// The plugin failed.
    case plugin(PluginError, name: String)
    /// The store failed; nothing in it was changed.
    case store(StoreError)
    /// Another process held the sign-in for longer than a person has.
    case busy
}
