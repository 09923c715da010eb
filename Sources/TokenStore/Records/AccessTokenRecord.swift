import Addresses
public import JSON
public import Secrets

/// An access token as in MSAL's unified cache.
public struct AccessTokenRecord: Sendable, Equatable {
    /// The account's `uid.utid`; nil if the token belongs to no account, as an application's does.
    public var homeAccountID: String?
    /// The authority's host.
    public var environment: String
    /// The client that the token was issued to.
    public var clientID: String
    /// The tenant that the token is for.
    public var realm: String
    /// The granted scopes, separated by spaces.
    public var target: String
    /// The token.
    public var secret: Secret
    /// The token's type (RFC 6749, 7.1).
    public var tokenType = "Bearer"
    /// When it was stored, in seconds since 1970.
    public var cachedAt: Int
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
    /// Unknown members, kept when the record is written back.
    public var other: [String: JSONValue] = [:]

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
        let names = [self, replaced].compactMap { $0?.requestedRealm }.joined(separator: " ").pieces(between: " ")
        var token = self
        var seen: Set<Substring> = []
        token.requestedRealm = names.filter { seen.insert($0).inserted }.prefix(8).joined(separator: " ")
        return token
    }
}

extension AccessTokenRecord: MSALRecord {
    /// lanyard's own member, which marks a token without a known expiry.
    private static let endlessMember = "lanyard_endless"

    init?(members: [String: JSONValue]) {
        var members = Members(members)
        guard let secret = members.secret("secret"), let end = members.number("expires_on") else { return nil }
        let isEndless = members.optionalText(Self.endlessMember) != nil
        self.init(
            homeAccountID: members.nonemptyText("home_account_id"), environment: members.text("environment"),
            clientID: members.text("client_id"), realm: members.text("realm"), target: members.text("target"),
            secret: secret, cachedAt: members.number("cached_at") ?? 0,
            expiresOn: isEndless ? nil : end)
        _ = members.optionalText("credential_type")
        tokenType = members.optionalText("token_type") ?? "Bearer"
        extendedExpiresOn = members.number("extended_expires_on")
        refreshOn = members.number("refresh_on")
        requestedRealm = members.optionalText("requested_realm")
        basicUsername = members.optionalText("basic_username")
        resourceIndicators = members.optionalText("resource_indicators")
        other = members.rest
    }

    var record: CredentialRecord { .accessToken(self) }

    var members: [String: JSONValue] {
        var members = other
        members.put("credential_type", isBearer ? "AccessToken" : "AccessToken_With_AuthScheme")
        members.put("home_account_id", homeAccountID ?? "")
        members.put("environment", environment)
        members.put("client_id", clientID)
        members.put("realm", realm)
        members.put("target", target)
        members.put("secret", secret.reveal())
        members.put("token_type", tokenType)
        members.put("cached_at", seconds: cachedAt)
        // Other programs that read the record must not use the token beyond an expiry that isn't known.
        members.put("expires_on", seconds: expiresOn ?? 0)
        if expiresOn == nil { members.put(Self.endlessMember, "1") }
        members.put("extended_expires_on", seconds: extendedExpiresOn)
        members.put("refresh_on", seconds: refreshOn)
        members.put("requested_realm", requestedRealm)
        members.put("basic_username", basicUsername)
        members.put("resource_indicators", resourceIndicators)
        return members
    }

    /// Whether it is a bearer token, which any holder can use.
    package var isBearer: Bool { tokenType.isEmpty || tokenType.lowercased() == "bearer" }
}
