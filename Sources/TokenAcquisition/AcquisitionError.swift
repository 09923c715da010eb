public import PluginWire
public import Rules
public import TokenStore

/// The reason why there is no token.
public indirect enum AcquisitionError: Error, Sendable, Equatable {
    /// No installed plugin serves the authority.
    case unknownAuthority(String)
    /// There are several candidates, and the request names none; on a shared device no earlier choice settles it.
    case ambiguousAccount([AccountRecord], isShared: Bool = false)
    /// The user was asked to choose an account, and chose none.
    case noAccountChosen
    /// The named account hasn't signed in.
    case noSuchAccount(String, known: [AccountRecord])
    /// Only the user can continue, and nobody is there; with the authority's error, if it was asked, and the chosen
    /// account, if it has signed in.
    case interactionRequired(PluginError?, account: AccountRecord? = nil)
    /// A different account signed in than the one that was named; it is stored, with all known accounts.
    case wrongAccount(wanted: String, signedIn: AccountRecord, known: [AccountRecord])
    /// The authority granted fewer scopes than requested; the granted token is stored.
    case scopesDeclined(granted: [String], declined: [String])
    /// Users may only sign in through a broker, and no broker of this machine serves the authority.
    case noBroker
    /// No way to sign in works here: the client has only these; if no client is named, the authority's host has only
    /// these.
    case noUsableFlow(among: [PluginRequest.Flow], client: String?, host: String)
    /// The authority requires the client's secret, and none is stored.
    case noClientSecret
    /// The identity's secret isn't in the keyring, or isn't in the variable that should have it.
    case noIdentitySecret(Identity, variable: String?)
    /// The plugin failed.
    case plugin(PluginError, name: String)
    /// The store failed, and was left unchanged.
    case store(StoreError)
    /// Another process held the sign-in lock for longer than a user has to sign in.
    case busy
}

/// Runs a body that uses the store.
func storing<Result>(_ body: () throws(StoreError) -> Result) throws(AcquisitionError) -> Result {
    do { return try body() } catch { throw .store(error) }
}
