public import Claims
public import Secrets

/// The host's request to a plugin: one message on its standard input (docs/plugin-protocol.md, REQUEST).
public struct PluginRequest: Sendable, Equatable {
    /// The operations of a plugin.
    public enum Operation: String, Sendable, CaseIterable {
        /// Acquire tokens with the user's help.
        case authorize
        /// Redeem a refresh token silently.
        case renew
        /// Get a token silently from a broker, another program that holds a sign-in.
        case silent
        /// End the session at the authority.
        case signOut = "sign-out"
        /// Revoke a refresh token silently.
        case revoke
        /// Register an application at the authority silently.
        case register
        /// Delete an application that was just registered, silently.
        case unregister
        /// Acquire a token as an application or a machine, silently.
        case authenticate
        /// Exchange a token for the credential that a resource accepts.
        case exchange
        /// Check whether the authority can be reached, silently and without acquiring a token.
        case probe
        /// Return the name, version, protocol versions and flows.
        case describe
    }

    /// A way for the user to sign in; a plugin may define further flows.
    public struct Flow: RawRepresentable, Sendable, Hashable {
        /// The name in the protocol.
        public let rawValue: String
        /// Creates a flow with any name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Authorization code with PKCE in a browser, with a loopback redirect (RFC 8252).
        public static let browser = Flow(rawValue: "browser")
        /// A code that is shown here and entered on another device (RFC 8628).
        public static let deviceCode = Flow(rawValue: "device-code")
        /// Authorization code with PKCE in a browser anywhere; the user pastes the address that it ends at.
        public static let paste = Flow(rawValue: "paste")
        /// A window of this machine's broker.
        public static let broker = Flow(rawValue: "broker")
    }

    /// An ability of the caller that authorities may rely on.
    public struct Capability: RawRepresentable, Sendable, Hashable {
        /// The name in the protocol.
        public let rawValue: String
        /// Creates a capability with any name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// If a server refuses the token and asks for claims, the next request includes them.
        public static let claimsChallenge = Capability(rawValue: "claims-challenge")
    }

    /// The operation.
    public var operation: Operation
    /// The authority's URL as configured: https, without a trailing slash; empty in `describe` and for a managed identity.
    public var authority = ""
    /// The application's client ID (RFC 6749, 2.2); empty if there is no authority, or no application yet.
    public var clientID = ""
    /// The application's display name; nil if the host doesn't know it.
    public var clientName: String?
    /// The purpose of the sign-in, for the user: the URL that needs the token, or the resource's name.
    public var purpose: String?
    /// The kind of authority, if a plugin serves several and the URL doesn't show it.
    public var kind: String?
    /// The application's secret, if it has one.
    public var clientSecret: Secret?
    /// The configured endpoints; the plugin discovers them if there are none.
    public var endpoints = PluginEndpoints()
    /// A redirect URI instead of the plugin's own choice; it has a port if the port is fixed.
    public var redirectURI: String?
    /// The requested scopes, without the OpenID Connect ones that the plugin adds.
    public var scopes: [String] = []
    /// The resource indicators (RFC 8707): absolute URIs.
    public var resources: [String] = []
    /// The flows that may be used, best first.
    public var flows: [Flow] = []
    /// Parameters of the sign-in; the port is in `redirectURI`.
    public var signIn = SignInParameters()
    /// An OpenID Connect claims request, as JSON.
    public var claims: String?
    /// Abilities of the host that authorities may rely on.
    public var capabilities: [Capability] = []
    /// The home account ID of the requested account.
    public var account: String?
    /// In `silent`: the milliseconds after which the host continues without an answer.
    public var timeLimit: Int?
    /// The refresh token to redeem or revoke.
    public var refreshToken: Secret?
    /// An ID token of the account, which identifies the session to end.
    public var idTokenHint: Secret?
    /// In `authenticate`: the identity that the token is for.
    ///
    /// In `probe`: the identity whose sign-in is checked, if there is no authority.
    public var identity: PluginIdentity?
    /// In `exchange`: the name of the manifest's exchange.
    public var exchange: String?
    /// In `exchange`: the host that the result is for, with `:port` if it isn't the default port.
    public var audience: String?
    /// In `exchange`: the path on the host, without its leading slash, if the manifest says that the result is for a
    /// single path.
    public var audiencePath: String?
    /// In `exchange`: the token to exchange.
    ///
    /// In `authenticate`: the token that a server refused because it lacks the `claims`.
    public var accessToken: Secret?
    /// In `unregister`: how to delete the registration.
    public var registration: PluginRegistration.Management?
    /// The memo that the plugin last returned for this authority.
    public var memo: String?
    /// What the user's settings say of the way to the authority.
    public var network = PluginNetwork()
    /// The authority hosts in the configuration, which the plugin trusts like its own.
    public var knownHosts: [String] = []
    /// The hosts that the configuration names as the authority's, besides that of its URL.
    public var issuerHosts: [String] = []
    /// A UUID that identifies this exchange in the authority's logs.
    public var correlationID: String?

    /// Creates a request; everything but the operation is set afterwards.
    public init(_ operation: Operation) {
        self.operation = operation
    }
}
