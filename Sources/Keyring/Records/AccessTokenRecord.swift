import Addresses
public import JSON
public import Secrets

/// An access token as in MSAL's unified cache.
public struct AccessTokenRecord: Sendable, Equatable {
    /// The account's `uid.utid`; nil if the token belongs to no account, as an application's does.
    public var homeAccountID: String?
    /// The authority's host.
    public var environment = ""
    /// The client that the token was issued to.
    public var clientID = ""
    /// The tenant that the token is for.
    public var realm = ""
    /// The granted scopes, separated by spaces.
    public var target = ""
    /// The token.
    public var secret = Secret("")
    /// The token's type (RFC 6749, 7.1).
    public var tokenType = "Bearer"
    /// When it was stored, in seconds since 1970.
    public var cachedAt = 0
    /// When it expires, in seconds since 1970; nil if it is valid until it is revoked.
    public var expiresOn: Int?
    /// Until when it may be used while the authority is down, in seconds since 1970.
    public var extendedExpiresOn: Int?
    /// When it should be renewed although it is still valid, in seconds since 1970.
    public var refreshOn: Int?
    /// The realms in the URLs of the authorities that it was requested from, such as a domain or `common`, the latest
    /// first, separated by spaces; lanyard's own member.
    public var requestedRealm: String?
    /// The user name that servers require if it is sent as a password; lanyard's own member.
    public var basicUsername: String?
    /// The resource indicators that it was requested with (RFC 8707), sorted, separated by spaces; lanyard's own
    /// member.
    public var resourceIndicators: String?
    /// The plugin that got it from a broker's sign-in, through which it is renewed; nil if the user signed in to lanyard;
    /// lanyard's own member.
    public var broker: String?
    /// The plugin that it came from, and the only one besides servers that may get it; nil for one that ships with lanyard; lanyard's own
    /// member.
    public var plugin: String?
    /// Unknown members, kept when the record is written back.
    public var other: [String: JSONValue] = [:]

    init() {}

    /// Creates a record with the fields that every access token has.
    public init(
        homeAccountID: String?, environment: String, clientID: String, realm: String, target: String, secret: Secret,
        cachedAt: Int, expiresOn: Int?
    ) {
        self.homeAccountID = homeAccountID
        self.environment = environment
        self.clientID = clientID
        self.realm = realm
        self.target = target
        self.secret = secret
        self.cachedAt = cachedAt
        self.expiresOn = expiresOn
    }

    /// Returns the record with the realm names of the one that it replaces added, since these mean the same tenant.
    package func requested(besides others: [AccessTokenRecord]) -> AccessTokenRecord {
        let replaced = others.first { CredentialRecord.accessToken($0).isSameItem(as: .accessToken(self)) }
        let names = [self, replaced].compactMap { $0?.requestedRealm }.flatMap(\.realmNames)
        var token = self
        var seen: Set<Substring> = []
        token.requestedRealm = names.filter { seen.insert($0).inserted }.prefix(8).joined(separator: " ")
        return token
    }
}

extension AccessTokenRecord: MSALRecord {
    var record: CredentialRecord { .accessToken(self) }

    mutating func list(_ members: inout Members) {
        members.type(isBearer ? "AccessToken" : "AccessToken_With_AuthScheme")
        members.account(&homeAccountID)
        members.text("environment", &environment)
        members.text("client_id", &clientID)
        members.text("realm", &realm)
        members.text("target", &target)
        members.secret("secret", &secret)
        members.text("token_type", &tokenType)
        members.time("cached_at", &cachedAt)
        // Other programs that read the record must not use the token beyond an expiry that isn't known. Both members are
        // set when writing; when reading, the second says whether the first counts.
        var end: Int? = expiresOn ?? 0
        var endless = expiresOn == nil ? "1" : nil
        members.time("expires_on", &end)
        members.text("lanyard_endless", &endless)
        members.require(end != nil)
        expiresOn = endless == nil ? end : nil
        members.time("extended_expires_on", &extendedExpiresOn)
        members.time("refresh_on", &refreshOn)
        members.text("requested_realm", &requestedRealm)
        members.text("basic_username", &basicUsername)
        members.text("resource_indicators", &resourceIndicators)
        members.text("lanyard_broker", &broker)
        members.text("lanyard_plugin", &plugin)
    }

    /// Whether it is a bearer token, which any holder can use.
    package var isBearer: Bool { tokenType.isEmpty || tokenType.lowercased() == "bearer" }
}

/// An ID token as in MSAL's unified cache.
public struct IDTokenRecord: Sendable, Equatable {
    /// The account's `uid.utid`.
    public var homeAccountID = ""
    /// The authority's host.
    public var environment = ""
    /// The client that the token was issued to.
    public var clientID = ""
    /// The tenant that the token is for.
    public var realm = ""
    /// The token.
    public var secret = Secret("")
    /// The realms in the URLs of the authorities that it was requested from, as of an access token; lanyard's own member.
    public var requestedRealm: String?
    /// The claims of the UserInfo endpoint that came with it, as JSON; lanyard's own member.
    public var userInfo: String?
    /// The plugin that it came from, and the only one that may get it; nil for one that ships with lanyard; lanyard's own
    /// member.
    public var plugin: String?
    /// Unknown members, kept when the record is written back.
    public var other: [String: JSONValue] = [:]

    init() {}

    /// Creates a record.
    public init(homeAccountID: String, environment: String, clientID: String, realm: String, secret: Secret) {
        self.homeAccountID = homeAccountID
        self.environment = environment
        self.clientID = clientID
        self.realm = realm
        self.secret = secret
    }
}

extension IDTokenRecord: MSALRecord {
    var record: CredentialRecord { .idToken(self) }

    mutating func list(_ members: inout Members) {
        members.type("IdToken")
        members.text("home_account_id", &homeAccountID)
        members.text("environment", &environment)
        members.text("client_id", &clientID)
        members.text("realm", &realm)
        members.secret("secret", &secret)
        members.text("requested_realm", &requestedRealm)
        members.text("lanyard_userinfo", &userInfo)
        members.text("lanyard_plugin", &plugin)
    }
}

/// A refresh token as in MSAL's unified cache; a family's token serves every client of the family.
public struct RefreshTokenRecord: Sendable, Equatable {
    /// The account's `uid.utid`.
    public var homeAccountID = ""
    /// The authority's host.
    public var environment = ""
    /// The client that the token was issued to.
    public var clientID = ""
    /// The token.
    public var secret = Secret("")
    /// The family of clients that may share it (`foci`); nil if it is for this client only.
    public var familyID: String?
    /// The scopes that it was issued with, separated by spaces; kept as in MSAL for Python, but not used.
    public var target = ""
    /// When it was stored or rotated, in seconds since 1970.
    public var lastModificationTime: Int?
    /// The plugin that it came from, and the only one that may get it; nil for one that ships with lanyard; lanyard's own
    /// member.
    public var plugin: String?
    /// Unknown members, kept when the record is written back.
    public var other: [String: JSONValue] = [:]

    init() {}

    /// Creates a record with the fields that every refresh token has.
    public init(
        homeAccountID: String, environment: String, clientID: String, secret: Secret, familyID: String? = nil
    ) {
        self.homeAccountID = homeAccountID
        self.environment = environment
        self.clientID = clientID
        self.secret = secret
        self.familyID = familyID
    }
}

extension RefreshTokenRecord {
    /// Whether both are stored in the same item: they have the same account, and the same client or family.
    package func isSameItem(as other: RefreshTokenRecord) -> Bool {
        CredentialRecord.refreshToken(self).isSameItem(as: .refreshToken(other))
    }
}

extension RefreshTokenRecord: MSALRecord {
    var record: CredentialRecord { .refreshToken(self) }

    mutating func list(_ members: inout Members) {
        members.type("RefreshToken")
        members.text("home_account_id", &homeAccountID)
        members.text("environment", &environment)
        members.text("client_id", &clientID)
        members.secret("secret", &secret)
        members.text("family_id", &familyID)
        familyID = familyID.flatMap { $0.isEmpty ? nil : $0 }
        members.nonemptyText("target", &target)
        members.time("last_modification_time", &lastModificationTime)
        members.text("lanyard_plugin", &plugin)
    }
}
