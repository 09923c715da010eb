public import Secrets

/// What `authorize`, `renew`, `silent` and `authenticate` gave (docs/plugin-protocol.md, RESULT).
public struct PluginResult: Sendable, Equatable {
    /// What the resource takes.
    public var accessToken: Secret
    /// RFC 6749, 7.1; `Bearer` unless said otherwise.
    public var tokenType = "Bearer"
    /// Seconds the access token lives from now on; nil if it lives until it is revoked.
    public var expiresIn: Int?
    /// Seconds it may be used from now on while the authority is down.
    public var extendedExpiresIn: Int?
    /// Seconds from now on after which it should be renewed, though it lives on.
    public var refreshIn: Int?
    /// A new refresh token, if the authority gave one.
    public var refreshToken: Secret?
    /// The family of clients that may share the refresh token (`foci`).
    public var familyID: String?
    /// The OpenID Connect ID token; nil if the authority gave none.
    public var idToken: Secret?
    /// The scopes granted.
    public var scopes: [String]
    /// The scopes asked for and not granted.
    public var declinedScopes: [String] = []
    /// The authority's host that tokens are kept under, aliases folded into one.
    public var environment: String
    /// The realm the tokens are for: an id if the authority tells it, else the name asked for.
    public var realm: String
    /// Who signed in; nil for an application or a machine, which have no account.
    public var account: PluginAccount?
    /// The user name that the token goes with if a server takes it as a password; nil if any will do.
    public var basicUsername: String?
    /// What the host is to hand back with the next request to this authority.
    public var memo: PluginMemo?

    /// Makes a result of what every one must have, and the account if there is one.
    public init(
        accessToken: Secret, expiresIn: Int?, scopes: [String], environment: String, realm: String,
        account: PluginAccount?
    ) {
        self.accessToken = accessToken
        self.expiresIn = expiresIn
        self.scopes = scopes
        self.environment = environment
        self.realm = realm
        self.account = account
    }
}

/// Who signed in, in the terms of MSAL's unified cache.
public struct PluginAccount: Sendable, Equatable {
    /// What identifies the account, whichever realm it is used in.
    public var homeAccountID: String
    /// What the realm is called that it is at home in, its id first; empty if it has none.
    public var homeRealms: [String] = []
    /// What kind of account it is, in a word or two for people.
    public var kind: String?
    /// What the person calls the account; may be empty.
    public var username: String
    /// The person's name for display.
    public var name: String?
    /// The account's id in this realm.
    public var localAccountID: String?
    /// `MSSTS`, `MSA`, `ADFS` or `Other`.
    public var authorityType = "Other"
    /// The authority's `client_info` as it came, base64url.
    public var clientInfo: String?

    /// Makes an account of what every one must have.
    public init(homeAccountID: String, username: String) {
        self.homeAccountID = homeAccountID
        self.username = username
    }
}

/// What `exchange` gave: a credential that a resource takes in a token's place; all of it is secret.
public struct PluginCredential: Sendable, Equatable {
    /// The user name, if the resource wants one.
    public var username: Secret?
    /// The password or token.
    public var secret: Secret?
    /// Seconds it lives from now on; nil if it lives until it is revoked.
    public var expiresIn: Int?
    /// Seconds from now on after which it should be renewed, though it lives on.
    public var refreshIn: Int?
    /// The parts of a credential that has more than these.
    public var fields: [PluginField] = []
    /// What the host is to hand back with the next request to this authority.
    public var memo: PluginMemo?

    /// Makes a credential; it needs a secret or fields.
    public init(username: Secret? = nil, secret: Secret? = nil, fields: [PluginField] = [], expiresIn: Int?) {
        self.username = username
        self.secret = secret
        self.fields = fields
        self.expiresIn = expiresIn
    }
}

/// What a plugin has the host remember: no secret, and nothing that it couldn't find out again.
public struct PluginMemo: Sendable, Equatable {
    /// The plugin's own business, on one line.
    public var text: String
    /// Seconds for which it is worth remembering.
    public var expiresIn: Int

    /// Makes a memo.
    public init(_ text: String, expiresIn: Int) {
        self.text = text
        self.expiresIn = expiresIn
    }
}

/// What `probe` found out; that it failed is an error.
public struct PluginProbe: Sendable, Equatable {
    /// Something that was tried and works.
    public struct Check: RawRepresentable, Sendable, Hashable {
        /// The name on the wire.
        public let rawValue: String
        /// Makes a check of any name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The authority answers, and what it says of itself is right.
        public static let authority = Check(rawValue: "authority")
        /// The authority knows the client, and takes the scopes for it.
        public static let client = Check(rawValue: "client")
    }

    /// What was tried and works; checks that nobody knows are ignored.
    public var checks: [Check]
    /// What time it is by the authority's clock, in seconds since 1970; nil if it doesn't tell.
    public var time: Int?
    /// The proxy that the authority was reached through, as `HOST:PORT`; nil for none.
    public var proxy: String?
    /// What else a person should know, in a few words; nil for nothing.
    public var summary: String?

    /// Makes what a probe found out.
    public init(_ checks: [Check], time: Int? = nil, proxy: String? = nil) {
        self.checks = checks
        self.time = time
        self.proxy = proxy
    }
}

/// What `describe` gave.
public struct PluginDescription: Sendable, Equatable {
    /// The plugin's name; the manifest's.
    public var name: String
    /// The plugin's own version.
    public var version: String
    /// The protocol versions it speaks, such as `v1`.
    public var protocols: [String]
    /// The flows it can use.
    public var flows: [PluginRequest.Flow]
    /// The kinds of identity that it signs in.
    public var identities: [PluginIdentity.Kind] = []
    /// The exchanges that it can do.
    public var exchanges: [String] = []

    /// Makes a description; identities and exchanges are set afterwards.
    public init(name: String, version: String, protocols: [String], flows: [PluginRequest.Flow]) {
        self.name = name
        self.version = version
        self.protocols = protocols
        self.flows = flows
    }
}
