public import Keyring
public import Model
public import PluginHost
public import PluginWire
import Secrets
public import SettingsFile

/// The reason why there is no token.
public indirect enum AcquisitionError: Error, Sendable, Equatable {
    /// No installed plugin serves the authority.
    case unknownAuthority(String)
    /// No manifest has a source of this name; with those that there are.
    case unknownSource(String, [String])
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
    /// An ID token is wanted, and the authority returned none; with its host.
    case noIDToken(String)
    /// Users may only sign in through a broker, and no broker of this machine serves the authority.
    case noBroker
    /// No way to sign in works here: the client has only these; if no client is named, the authority's host has only
    /// these.
    case noUsableFlow(among: [PluginRequest.Flow], client: String?, host: String)
    /// Only device codes can be used, and the request asks for what only a sign-in page has.
    case needsPage(PluginSupport)
    /// The authority requires the client's secret, and none is stored.
    case noClientSecret
    /// The identity's secret isn't in the keyring, or isn't in the variable that should have it.
    case noIdentitySecret(Identity, variable: String?)
    /// A variable that an identity is proved with holds what no plugin can be told.
    case badVariable(String)
    /// The plugin that the authority is for can't be used.
    case unusablePlugin(SettingsError, name: String)
    /// What is stored came from another plugin than the one that serves the authority now.
    case otherPlugin(OtherPlugin)
    /// The plugin failed.
    case plugin(PluginError, name: String)
    /// The store failed, and was left unchanged.
    case store(KeyringError)
    /// Another process has done the same work for longer than it takes; with its process ID, if that is known.
    case busy(Int32?, SharedWork)
}

/// The plugin that a sign-in came from, when the authority has another one, or none.
public struct OtherPlugin: Sendable, Equatable {
    /// The plugin's name; nil for one that ships with lanyard.
    public let origin: String?
    /// The reason why it can't be used, if it is installed and can't be.
    public let problem: SettingsError?
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
func storing<Result>(_ body: () throws(KeyringError) -> Result) throws(AcquisitionError) -> Result {
    do { return try body() } catch { throw .store(error) }
}

extension PluginError.Code {
    /// Whether the request may still succeed if the user is asked.
    var wantsUser: Bool { self == .interactionRequired }
    /// Whether the authority can't be asked right now.
    var isOutage: Bool { self == .unavailable || self == .throttled }
}

extension PluginError {
    /// Whether another account might work.
    public var isAboutAccount: Bool { reasons.contains(.otherAccount) }

    /// Whether a family refresh token was refused because the client isn't a member of the family.
    var isClientMismatch: Bool { reasons.contains(.notInFamily) }

    /// Stands in for the authority's error if a server refuses a token that was just renewed.
    static func refused(remaining seconds: Int) -> PluginError {
        PluginError(
            .interactionRequired, "the server refused the token that had just been renewed",
            hint: "it is renewed again in \(seconds) seconds at the earliest")
    }

    /// Stands in for the authority's error if only another sign-in brings the scopes.
    static func lacking(_ scopes: [String]) -> PluginError {
        PluginError(.interactionRequired, "the sign-in was not for \(scopes.joined(separator: ", ").displayable())")
    }

    /// Stands in for the authority's error if only the server's challenge is known.
    static func missing(_ claims: String) -> PluginError {
        var error = PluginError(.interactionRequired, "the token lacks claims that the server wants")
        error.claims = claims
        return error
    }
}

/// A step of acquiring a token that may take long, or its outcome.
public enum AcquisitionProgress: Sendable, Equatable {
    /// Reading or writing the keyring, which may ask the user for its password.
    case usingKeyring
    /// Waiting for another process that does the same work; with its process ID, if that is known.
    case waitingForAnother(Int32?, SharedWork)
    /// Asking the authority to renew a token.
    case renewing(String)
    /// Acquiring a token as an application or a machine from this authority.
    case authenticating(String)
    /// Exchanging a token for the credential that this host accepts.
    case exchanging(String)
    /// Asking the machine's broker for a token.
    case askingBroker
    /// Asking the authority how to sign in.
    case startingSignIn(String)
    /// The user has signed in, and the sign-in is stored.
    case signedIn(AccountRecord)
    /// The sign-in brought none of the claims of the UserInfo endpoint that it asked for; with the reason.
    case withoutUserInfo(String)
    /// Skipping damaged items of the keyring.
    case skippingDamaged
}

/// The work that one of the user's processes does for all of them.
public enum SharedWork: String, Sendable {
    /// Having the user sign in, or choose an account.
    case signIn = "sign-in"
    /// Redeeming a refresh token.
    case renewal
    /// Acquiring a token as an identity.
    case authentication
    /// Exchanging a token.
    case exchange
}

/// One run of `get`: what it is for, and what came of its attempts so far.
struct AcquisitionRun: Sendable {
    var request: TokenRequest
    let authority: AuthorityMatch
    /// When it began: what has failed since, in any process, isn't tried again.
    let began: Int
    /// Whether to get a new token even if a valid one is stored.
    var isAnew = false
    /// Whether the user may be asked, as far as that shows without looking for them.
    var mayAsk = false
    /// The client's secret, as it was read last; nil if it has none.
    var clientSecret: Secret?
    /// The refresh tokens that were of no use.
    var tried: Set<Secret> = []
    /// What the last of them, or a process that did the same, failed with.
    var failure: PluginError?
    /// The plugin that can be asked for a token of another program's sign-in; nil if none can.
    var broker: PluginManifest?
    /// Why the broker has no token; nil until it was asked.
    var brokerRefusal: PluginError?

    /// The reason why the broker has to ask the user; nil if it doesn't have to, or wasn't asked.
    var brokerRequest: PluginError? { brokerRefusal.flatMap { $0.code.wantsUser ? $0 : nil } }

    /// The key of a recorded failure; with nil, for a user who hasn't signed in.
    func key(_ account: StoredAccount?) -> RecentErrors.Key {
        RecentErrors.Key(account?.withMissedClaims(request) ?? request, authority.key, account: account?.account)
    }
}
