public import Claims

/// A token that somebody needs: what a request comes to, once rules and configuration have been applied.
public struct TokenRequest: Sendable, Equatable {
    /// Why the token is for this consumer.
    public enum Origin: Sendable, Equatable {
        /// A rule maps the URL; its pattern.
        case rule(String)
        /// A plugin's manifest knows the host; the resource's name.
        case wellKnownHost(String)
        /// The consumer named authority and scopes, and no host.
        case consumer
    }

    /// What a consumer may name.
    public enum Named: Sendable {
        case authority
        case clientID
        case scopes
    }

    /// Why the token is for this consumer.
    public var origin: Origin
    /// The authority's URL.
    public var authority: String
    /// Whether the configuration names the authority, which makes its host a known one.
    public var authorityIsConfigured: Bool
    /// The kind of authority, if its URL doesn't tell.
    public var kind: String?
    /// The application's client ID, or a name for it until the plugins have been asked.
    public var clientID: String
    /// The scopes wanted.
    public var scopes: [String]
    /// What the token is for, besides its scopes (RFC 8707); only a rule says so.
    public var resourceIndicators: [String] = []
    /// What the token is turned into for the host; nil if the host takes the token itself.
    public var exchange: TokenExchange?
    /// What of these the consumer named itself; the rest comes from rules and configuration.
    public var named: Set<Named> = []
    /// The host, with its port, that the token is presented to; nil for a script's own request.
    public var host: String?
    /// The path there; nil unless the consumer tells it.
    public var path: String?
    /// The account named for the request, by user name or home account id: it or none.
    public var account: String?
    /// Who signs in without a person; nil if a person does.
    public var identity: Identity?
    /// A user name that may or may not be an account's, such as the organisation in an Azure DevOps URL.
    public var userHint: String?
    /// Whether the user name is an account's, as at code hosts: then it is for that account, and for no other that has a name.
    public var userHintIsAccount = false
    /// A claims request, checked: JSON on one line.
    public var claims: String?
    /// What shapes a sign-in, should there be one.
    public var signIn = SignInParameters()

    /// OpenID Connect's `prompt`, which decides also whether anything stored will do.
    public var prompt: String? {
        get { signIn.prompt }
        set { signIn.prompt = newValue }
    }

    /// Who must be the one that signs in: the account that is named, else the user name if it is an account's or an address.
    public var expectedAccount: String? {
        account ?? userHint.flatMap { userHintIsAccount || $0.isAddress ? $0 : nil }
    }
}

/// What a token is turned into before it is handed out.
public struct TokenExchange: Sendable, Equatable {
    /// The plugin's name for it.
    public var name: String
    /// The host that takes the result, with `:port` if that isn't 443.
    public var audience: String
    /// The path there, if the result depends on it; empty otherwise.
    public var path: String
    /// Whether the result depends on the path there.
    public var isPerPath: Bool

    /// Names an exchange; a path that isn't nil is one that the result depends on.
    public init(_ name: String, for audience: String, path: String? = nil) {
        self.name = name
        self.audience = audience
        self.path = path ?? ""
        isPerPath = path != nil
    }

    /// What a manifest says of an exchange: its name, the scopes of the token, and whether the result is for one path only.
    public typealias Row = (name: String, scopes: [String], isPerPath: Bool)
}

extension String {
    /// Whether it names a person, and not an organisation as the user name of an Azure DevOps URL does.
    public var isAddress: Bool { utf8.contains(UInt8(ascii: "@")) }
}

/// Why a request that needs a token can't have it.
public enum ResolutionError: Error, Sendable, Equatable {
    /// The request names scopes or an authority, but not both, and no rule helps.
    case incomplete
    /// The request names scopes, and neither it nor the configuration has an authority.
    case noAuthority
    /// The host is not mapped to the resource of the scopes that the consumer named.
    case notMapped(host: String, scope: String)
    /// Neither the request nor the configuration has a client ID.
    case noClientID(authority: String)
    /// The rule names no scopes, and no manifest says which are wanted at its authority.
    case noScopes(authority: String)
    /// The rule names an exchange that the authority's plugin doesn't do.
    case unknownExchange(String, authority: String)
    /// What should be a client's id or name is neither at the authority; the names that there are, and the nearest.
    case unknownClient(String, names: [String], nearest: String?)
    /// The system's policy forbids a well-known client, by its name.
    case forbiddenClient(String)
    /// The request names a tenant, and this authority's URL has no place for one.
    case noTenants(authority: String)
    /// A scope isn't one.
    case badScope
    /// The claims that the consumer named can't be asked for.
    case badClaims(ClaimsError)
    /// The sign-in is given something that it can't be given.
    case badParameter(SignInParameterError)
    /// No table has the identity of this name, and none is built in; the names that there are.
    case unknownIdentity(String, names: [String])
    /// The variables describe no identity that a plugin knows; the sets of variables that would, and what of them is there.
    case noIdentityInEnvironment([[String]], present: [String])
    /// A plugin's manifest refuses what the variables describe, in its own words.
    case refusedIdentity(String, hint: String)
    /// The claims that the host's server wants can't be asked for.
    case badChallenge(host: String, ClaimsError)
}
