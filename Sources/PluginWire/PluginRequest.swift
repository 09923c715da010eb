public import Claims
public import Secrets

/// What the host asks of a plugin; one block on its stdin (docs/plugin-protocol.md, REQUEST).
public struct PluginRequest: Sendable, Equatable {
    /// What is to be done.
    public enum Operation: String, Sendable, CaseIterable {
        /// Get tokens with the person's help.
        case authorize
        /// Get tokens from a refresh token, without anybody.
        case renew
        /// Get a token from a sign-in that another program holds, without anybody.
        case silent
        /// End the session at the authority.
        case signOut = "sign-out"
        /// Have the authority take back a refresh token, without anybody.
        case revoke
        /// Register an application at the authority, without anybody.
        case register
        /// Take back an application that was just registered, without anybody.
        case unregister
        /// Get a token as an application or a machine, without anybody.
        case authenticate
        /// Turn a token into what a resource takes.
        case exchange
        /// Find out whether the authority can be asked at all, without anybody and without getting a token.
        case probe
        /// Tell name, version, protocol versions and flows.
        case describe
    }

    /// A way to have the person sign in; a plugin may name flows of its own.
    public struct Flow: RawRepresentable, Sendable, Hashable {
        /// The name on the wire.
        public let rawValue: String
        /// Makes a flow of any name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Authorization code with PKCE in a browser, answered on a loopback redirect (RFC 8252).
        public static let browser = Flow(rawValue: "browser")
        /// A code shown here and typed elsewhere (RFC 8628).
        public static let deviceCode = Flow(rawValue: "device-code")
        /// Authorization code with PKCE in a browser anywhere; the person pastes the address that it ends at.
        public static let paste = Flow(rawValue: "paste")
        /// A window of the program that holds this machine's sign-ins.
        public static let broker = Flow(rawValue: "broker")
    }

    /// What whoever asks can do with what the authority answers.
    public struct Capability: RawRepresentable, Sendable, Hashable {
        /// The name on the wire.
        public let rawValue: String
        /// Makes a capability of any name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// A server that refuses the token may say which claims it misses, and the next request carries them.
        public static let claimsChallenge = Capability(rawValue: "claims-challenge")
    }

    /// What is to be done.
    public var operation: Operation
    /// The authority's URL as configured; https, without a trailing slash.
    public var authority = ""
    /// The application's client ID (RFC 6749, 2.2).
    public var clientID = ""
    /// What the application is called, for people; nil if the host doesn't know.
    public var clientName: String?
    /// What the person signs in for, for people: the URL that needs the token, or the resource's name.
    public var purpose: String?
    /// What kind of authority it is, if a plugin serves several and the URL doesn't tell.
    public var kind: String?
    /// The application's secret, if it has one.
    public var clientSecret: Secret?
    /// The authority's endpoints as they are configured; without any, the plugin finds them.
    public var endpoints = PluginEndpoints()
    /// A redirect URI other than the plugin's own choice; with a port if the port is fixed.
    public var redirectURI: String?
    /// The scopes wanted, without the OpenID Connect ones that the plugin adds.
    public var scopes: [String] = []
    /// What the token is for (RFC 8707): absolute URIs.
    public var resources: [String] = []
    /// The flows that may be used, best first.
    public var flows: [Flow] = []
    /// What shapes the sign-in; its port is in `redirectURI`.
    public var signIn = SignInParameters()
    /// An OpenID Connect claims request, JSON.
    public var claims: String?
    /// What the host can do with what the authority answers.
    public var capabilities: [Capability] = []
    /// The home account id of the account meant.
    public var account: String?
    /// In `silent`: milliseconds until the host goes on without an answer.
    public var timeLimit: Int?
    /// The refresh token to redeem, or to have taken back.
    public var refreshToken: Secret?
    /// An ID token of the account, to name the session that ends.
    public var idTokenHint: Secret?
    /// In `authenticate`: who the token is for.
    ///
    /// In `probe`: whose signing in is probed, if no authority is.
    public var identity: PluginIdentity?
    /// In `exchange`: which of the manifest's exchanges is meant.
    public var exchange: String?
    /// In `exchange`: the host that the result is for, with `:port` if the port isn't the usual one.
    public var audience: String?
    /// In `exchange`: the path there, without its leading slash, if the manifest says that the result is for one only.
    public var audiencePath: String?
    /// In `exchange`: the token to turn into something else.
    ///
    /// In `authenticate`: the token that a server refused because it lacks the `claims`.
    public var accessToken: Secret?
    /// In `unregister`: where the registration is taken back.
    public var registration: PluginRegistration.Management?
    /// What the plugin last asked the host to remember for this authority.
    public var memo: String?
    /// A file of PEM certificates to trust besides the system's.
    public var caFile: String?
    /// Hosts of authorities that the configuration names, so that the plugin trusts them as it does its own.
    public var knownHosts: [String] = []
    /// Names this exchange in the authority's logs; a UUID.
    public var correlationID: String?

    /// Makes a request; everything but the operation is set afterwards.
    public init(_ operation: Operation) {
        self.operation = operation
    }
}
