public import JSON
public import Secrets

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
        members.text("lanyard_plugin", &plugin)
    }
}
