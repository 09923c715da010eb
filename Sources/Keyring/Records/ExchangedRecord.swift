internal import Addresses
internal import AnswerCache
public import JSON
public import Secrets

/// The result of exchanging a token, such as a registry's own token; lanyard's own kind of record, which MSAL doesn't
/// have.
public struct ExchangedRecord: Sendable, Equatable {
    /// The account that the token belonged to; nil if it belonged to none.
    public var homeAccountID: String?
    /// The host of the authority that issued the token.
    public var environment = ""
    /// The client that the token was issued to.
    public var clientID = ""
    /// The realm that the token was for.
    public var realm = ""
    /// The scopes of the token, separated by spaces.
    public var target = ""
    /// The plugin's name for the exchange.
    public var exchange = ""
    /// The host that accepts it, with `:port` if that isn't 443.
    public var audience = ""
    /// The path on the host, if the exchange depends on it; otherwise empty.
    public var path = ""
    /// The user name that goes with it; nil if there is none.
    public var username: Secret?
    /// The password or token; nil if the result has only fields.
    public var secret: Secret?
    /// The named parts of a credential that has several.
    public var fields: [String: Secret] = [:]
    /// When it was stored, in seconds since 1970.
    public var cachedAt = 0
    /// The expiry, in seconds since 1970; nil if it is valid until it is revoked.
    public var expiresOn: Int?
    /// When it should be renewed although it is still valid, in seconds since 1970.
    public var refreshOn: Int?
    /// The realms in the URLs of the authorities that the token was requested from, as in access tokens.
    public var requestedRealm: String?
    /// Unknown members, kept when the record is written back.
    public var other: [String: JSONValue] = [:]

    init() {}

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

extension ExchangedRecord {
    /// The fingerprints by which the result is recognised: its secret's, and that of all its parts.
    package var fingerprints: Set<String> { Set([secret, whole].compactMap { $0?.fingerprint }) }
}

extension ExchangedRecord: MSALRecord {
    var record: CredentialRecord { .exchanged(self) }

    mutating func list(_ members: inout Members) {
        members.type("Exchanged")
        members.account(&homeAccountID)
        members.text("environment", &environment)
        members.text("client_id", &clientID)
        members.text("realm", &realm)
        members.text("target", &target)
        members.require(members.text("exchange", &exchange))
        members.require(members.text("audience", &audience))
        members.nonemptyText("path", &path)
        members.secret("username", &username)
        members.secret("secret", &secret)
        members.secrets("fields", &fields)
        members.require(secret != nil || !fields.isEmpty)
        members.time("cached_at", &cachedAt)
        members.time("expires_on", &expiresOn)
        members.time("refresh_on", &refreshOn)
        members.text("requested_realm", &requestedRealm)
    }
}

/// What was granted for a while: an access token, or what one was exchanged for.
package protocol GrantedRecord {
    var homeAccountID: String? { get }
    var environment: String { get }
    var realm: String { get }
    var target: String { get }
    var cachedAt: Int { get }
    var expiresOn: Int? { get }
    var refreshOn: Int? { get }
    var requestedRealm: String? { get }
}

extension AccessTokenRecord: GrantedRecord {}

extension ExchangedRecord: GrantedRecord {}

extension GrantedRecord {
    /// Whether the token was requested from an authority whose URL has this realm.
    package func wasRequested(in realm: String) -> Bool {
        requestedRealm?.lowercased().realmNames.contains { $0.isSame(as: realm.lowercased()) } ?? false
    }

    /// Whether it expires after a time in seconds since 1970; true if its expiry isn't known.
    package func lives(after time: Int) -> Bool { expiresOn.map { $0 > time } ?? true }

    /// The scopes in `target`.
    package var scopes: [String] { target.pieces(between: " ").map(String.init) }
}

extension String {
    /// The names in a `requested_realm`; one is empty if the authority's path has no place for a realm.
    package var realmNames: [Substring] { pieces(between: " ", omittingEmpty: false) }
}
