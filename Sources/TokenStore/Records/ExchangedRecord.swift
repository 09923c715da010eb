public import JSON
public import Secrets

/// The result of exchanging a token, such as a registry's own token; lanyard's own kind of record, which MSAL doesn't
/// have.
public struct ExchangedRecord: Sendable, Equatable {
    /// The account that the token belonged to; nil if it belonged to none.
    public var homeAccountID: String?
    /// The host of the authority that issued the token.
    public var environment: String
    /// The client that the token was issued to.
    public var clientID: String
    /// The realm that the token was for.
    public var realm: String
    /// The scopes of the token, separated by spaces.
    public var target: String
    /// The plugin's name for the exchange.
    public var exchange: String
    /// The host that accepts it, with `:port` if that isn't 443.
    public var audience: String
    /// The path on the host, if the exchange depends on it; otherwise empty.
    public var path = ""
    /// The user name that goes with it; nil if there is none.
    public var username: Secret?
    /// The password or token; nil if the result has only fields.
    public var secret: Secret?
    /// The named parts of a credential that has several.
    public var fields: [String: Secret] = [:]
    /// When it was stored, in seconds since 1970.
    public var cachedAt: Int
    /// The expiry, in seconds since 1970; nil if it is valid until it is revoked.
    public var expiresOn: Int?
    /// When it should be renewed although it is still valid, in seconds since 1970.
    public var refreshOn: Int?
    /// The realms in the URLs of the authorities that the token was requested from, as in access tokens.
    public var requestedRealm: String?
    /// Unknown members, kept when the record is written back.
    public var other: [String: JSONValue] = [:]

    /// Creates a record of an exchange without its result.
    public init(
        homeAccountID: String?, environment: String, clientID: String, realm: String, target: String, exchange: String,
        audience: String, cachedAt: Int
    ) {
        self.homeAccountID = homeAccountID
        self.environment = environment
        self.clientID = clientID
        self.realm = realm
        self.target = target
        self.exchange = exchange
        self.audience = audience
        self.cachedAt = cachedAt
    }

    /// All secret parts as one secret, which distinguishes one result from another.
    package var whole: Secret {
        let parts = fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.reveal())" }
        return Secret(([secret?.reveal() ?? ""] + parts).joined(separator: "\n"))
    }
}

extension ExchangedRecord: MSALRecord {
    init?(members: [String: JSONValue]) {
        var members = Members(members)
        guard let exchange = members.optionalText("exchange"), let audience = members.optionalText("audience") else {
            return nil
        }
        homeAccountID = members.nonemptyText("home_account_id")
        environment = members.text("environment")
        clientID = members.text("client_id")
        realm = members.text("realm")
        target = members.text("target")
        self.exchange = exchange
        self.audience = audience
        path = members.text("path")
        username = members.secret("username")
        secret = members.secret("secret")
        fields = members.secrets("fields")
        guard secret != nil || !fields.isEmpty else { return nil }
        cachedAt = members.number("cached_at") ?? 0
        expiresOn = members.number("expires_on")
        refreshOn = members.number("refresh_on")
        requestedRealm = members.optionalText("requested_realm")
        _ = members.optionalText("credential_type")
        other = members.rest
    }

    var record: CredentialRecord { .exchanged(self) }

    var members: [String: JSONValue] {
        var members = other
        members.put("credential_type", "Exchanged")
        members.put("home_account_id", homeAccountID ?? "")
        members.put("environment", environment)
        members.put("client_id", clientID)
        members.put("realm", realm)
        members.put("target", target)
        members.put("exchange", exchange)
        members.put("audience", audience)
        members.put("path", path.isEmpty ? nil : path)
        members.put("username", username?.reveal())
        members.put("secret", secret?.reveal())
        if !fields.isEmpty { members["fields"] = .object(fields.mapValues { .string($0.reveal()) }) }
        members.put("cached_at", seconds: cachedAt)
        members.put("expires_on", seconds: expiresOn)
        members.put("refresh_on", seconds: refreshOn)
        members.put("requested_realm", requestedRealm)
        return members
    }
}
