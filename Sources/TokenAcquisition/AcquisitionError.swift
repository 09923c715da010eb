public import PluginHost
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
    /// A variable that an identity is proved with holds what no plugin can be told.
    case badVariable(String)
    /// The plugin that the authority is for can't be used.
    case unusablePlugin(PluginProblem, name: String)
    /// What is stored came from another plugin than the one that serves the authority now.
    case otherPlugin(OtherPlugin)
    /// The plugin failed.
    case plugin(PluginError, name: String)
    /// The store failed, and was left unchanged.
    case store(StoreError)
    /// Another process has done the same work for longer than it takes; with its process ID, if that is known.
    case busy(Int32?, SharedWork)
}

/// The plugin that a sign-in came from, when the authority has another one, or none.
public struct OtherPlugin: Sendable, Equatable {
    /// The plugin's name; nil for one that ships with lanyard.
    public let origin: String?
    /// The reason why it can't be used, if it is installed and can't be.
    public let problem: PluginProblem?
    /// Whether it is installed and can be used, but doesn't serve the authority.
    public let isUsable: Bool
    /// The plugin that serves the authority now; nil if none does.
    public let serving: String?
    /// Whether the user may sign in again, by the plugin that serves the authority now.
    public let maySignIn: Bool
    /// The account, or one of several.
    public let account: AccountRecord?
}

/// Runs a body that uses the store.
func storing<Result>(_ body: () throws(StoreError) -> Result) throws(AcquisitionError) -> Result {
    do { return try body() } catch { throw .store(error) }
}
