import Addresses
public import Claims

/// The token that a request needs, according to the rules and the configuration.
public struct TokenRequest: Sendable, Equatable {
    /// The reasons for giving a token to a tool.
    public enum Origin: Sendable, Equatable {
        /// A rule maps the URL; with the rule's pattern.
        case rule(String)
        /// A plugin's manifest knows the host; with the resource's name.
        case wellKnownHost(String)
        /// The tool named the authority and scopes, and no host.
        case tool
    }

    /// The parts that a tool may name.
    public enum Named: Sendable {
        case authority
        case clientID
        case scopes
    }

    /// The tokens of a sign-in that can be handed out.
    public enum Kind: String, Sendable, CaseIterable {
        /// The access token (RFC 6749, 1.4).
        case access
        /// The ID token (OpenID Connect Core 1.0, 2), whose audience is the app itself.
        case id

        /// The kind in words, which follow "an" as well as "the".
        public var name: String { self == .id ? "ID token" : "access token" }
    }

    /// The kind of token that is got: what a plugin finds on this machine has ID tokens by the scope `openid`.
    public var kindForPeople: Kind { identity != nil && scopes.contains("openid") ? .id : token }

    /// What can name the account or the identity that a token is for.
    public enum Namer: Sendable, Equatable {
        /// The tool's request.
        case request
        /// The rule that maps the URL.
        case rule
        /// A setting for all requests.
        case configuration
    }

    /// The reason for giving the token to this tool.
    public var origin: Origin
    /// Which token is handed out.
    public var token = Kind.access
    /// The authority's URL.
    public var authority: String
    /// Whether the configuration names the authority, so that its host is a known one.
    public var authorityIsConfigured: Bool
    /// The kind of authority, if its URL doesn't show it.
    public var kind: String?
    /// The application's client ID, or its name until the plugins have been asked.
    public var clientID: String
    /// The requested scopes.
    public var scopes: [String]
    /// The resource indicators (RFC 8707); only a rule has them.
    public var resourceIndicators: [String] = []
    /// Where the credential is looked up, as in a rule; nil if it is a token of the authority.
    public var source: String?
    /// The exchange that the host needs; nil if the host accepts the token itself.
    public var exchange: TokenExchange?
    /// The parts that the tool named; the others come from rules and configuration.
    public var named: Set<Named> = []
    /// The host, with its port, that the token is presented to; nil for a script's own request.
    public var host: String?
    /// The path on the host; nil if the tool doesn't send it.
    public var path: String?
    /// The account that must be used, by user name or home account ID; nil if none was named.
    public var account: String?
    /// The identity that signs in without a user; nil if a user does.
    public var identity: Identity?
    /// What named `account` or `identity`; if `resolve` made the request; nil if neither is named.
    public var namedBy: Namer?
    /// A user name that may or may not be an account's, such as the organisation in an Azure DevOps URL.
    public var userHint: String?
    /// Whether the user name is an account's, as at code hosts.
    ///
    /// If so, no other account with a known name may be used.
    public var userHintIsAccount = false
    /// A claims request, validated: JSON on one line.
    public var claims: String?
    /// The parameters of a sign-in, if there is one.
    public var signIn = SignInParameters()

    /// Creates a request without anything that only some have.
    public init(
        _ authority: String, isConfigured: Bool, clientID: String, scopes: [String], origin: Origin = .tool
    ) {
        self.origin = origin
        self.authority = authority
        authorityIsConfigured = isConfigured
        self.clientID = clientID
        self.scopes = scopes
    }

    /// OpenID Connect's `prompt`, which also decides whether a stored token may be used.
    public var prompt: String? {
        get { signIn.prompt }
        set { signIn.prompt = newValue }
    }

    /// The account that must sign in: the named account, or else the user name if it is an account's or an email
    /// address.
    public var expectedAccount: String? {
        account ?? userHint.flatMap { userHintIsAccount || $0.isAddress ? $0 : nil }
    }
}

/// An exchange of a token before it is handed out.
public struct TokenExchange: Sendable, Equatable {
    /// The plugin's name for the exchange.
    public var name: String
    /// The host that accepts the result, with `:port` if that isn't 443.
    public var audience: String
    /// The path on the host, if the result depends on it; otherwise empty.
    public var path: String
    /// Whether the result depends on the path.
    public var isPerPath: Bool
    /// The parameters that a rule has for it.
    public var parameters: [String: String] = [:]

    /// Creates an exchange; if `path` isn't nil, the result depends on it.
    public init(_ name: String, for audience: String, path: String? = nil) {
        self.name = name
        self.audience = audience
        self.path = path ?? ""
        isPerPath = path != nil
    }
}

extension String {
    /// Whether it is an email address, and so names a user rather than an organisation, as in an Azure DevOps URL.
    public var isAddress: Bool { utf8.contains(UInt8(ascii: "@")) }

    /// Whether it is a valid scope token (RFC 6749, 3.3): printable ASCII without space, quote or backslash.
    public var isScopeToken: Bool {
        !isEmpty && utf8.allSatisfy { $0.isVisibleASCII && $0 != 0x22 && $0 != 0x5C }
    }
}
