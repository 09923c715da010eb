public import JSON
public import Secrets

/// An ID token as in MSAL's unified cache.
public struct IDTokenRecord: Sendable, Equatable {
    /// The account's `uid.utid`.
    public var homeAccountID: String
    /// The authority's host.
    public var environment: String
    /// The client that the token was issued to.
    public var clientID: String
    /// The tenant that the token is for.
    public var realm: String
    /// The token.
    public var secret: Secret
    /// Unknown members, kept when the record is written back.
    public var other: [String: JSONValue] = [:]

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
    init?(members: [String: JSONValue]) {
        var members = Members(members)
        guard let secret = members.secret("secret") else { return nil }
        self.init(
            homeAccountID: members.text("home_account_id"), environment: members.text("environment"),
            clientID: members.text("client_id"), realm: members.text("realm"), secret: secret)
        _ = members.optionalText("credential_type")
        other = members.rest
    }

    var record: CredentialRecord { .idToken(self) }

    var members: [String: JSONValue] {
        var members = other
        members.put("credential_type", "IdToken")
        members.put("home_account_id", homeAccountID)
        members.put("environment", environment)
        members.put("client_id", clientID)
        members.put("realm", realm)
        members.put("secret", secret.reveal())
        return members
    }
}
