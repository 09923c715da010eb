public import Secrets

/// What `authorize` and `renew` gave (docs/plugin-protocol.md, RESULT).
public struct PluginResult: Sendable, Equatable {
    /// The access token.
    public var accessToken: Secret
    /// RFC 6749, 7.1; `Bearer` unless said otherwise.
    public var tokenType = "Bearer"
    /// Seconds the access token lives from now on.
    public var expiresIn: Int
    /// Seconds it may be used from now on while the authority is down.
    public var extendedExpiresIn: Int?
    /// Seconds from now on after which it should be renewed, though it lives on.
    public var refreshIn: Int?
    /// A new refresh token, where the authority gave one.
    public var refreshToken: Secret?
    /// The family of clients that may share the refresh token (`foci`).
    public var familyID: String?
    /// The id token.
    public var idToken: Secret?
    /// The scopes granted.
    public var scopes: [String]
    /// The scopes asked for and not granted.
    public var declinedScopes: [String] = []
    /// Who signed in.
    public var account: PluginAccount

    /// Makes a result of what every one must have.
    public init(accessToken: Secret, expiresIn: Int, scopes: [String], account: PluginAccount) {
        self.accessToken = accessToken
        self.expiresIn = expiresIn
        self.scopes = scopes
        self.account = account
    }
}

/// Who signed in, in the terms of MSAL's unified cache.
public struct PluginAccount: Sendable, Equatable {
    /// `uid.utid`; for B2C the uid is `oid-policy`.
    public var homeAccountID: String
    /// The authority's host that tokens are kept under, aliases folded into one.
    public var environment: String
    /// The tenant the tokens are for: an id where the authority tells it, else the name asked for.
    public var realm: String
    /// What the person calls the account; may be empty for B2C.
    public var username: String
    /// The person's name for display.
    public var name: String?
    /// The object id in this tenant.
    public var localAccountID: String?
    /// `MSSTS`, `MSA`, `ADFS` or `Other`.
    public var authorityType = "MSSTS"
    /// The authority's `client_info` as it came, base64url.
    public var clientInfo: String?

    /// Makes an account of what every one must have.
    public init(homeAccountID: String, environment: String, realm: String, username: String) {
        self.homeAccountID = homeAccountID
        self.environment = environment
        self.realm = realm
        self.username = username
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

    /// Makes a description.
    public init(name: String, version: String, protocols: [String], flows: [PluginRequest.Flow]) {
        self.name = name
        self.version = version
        self.protocols = protocols
        self.flows = flows
    }
}
