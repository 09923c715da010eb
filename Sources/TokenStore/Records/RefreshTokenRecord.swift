public import JSON
public import Secrets

/// A refresh token as in MSAL's unified cache; a family's token serves every client of the family.
public struct RefreshTokenRecord: Sendable, Equatable {
    /// The account's `uid.utid`.
    public var homeAccountID: String
    /// The authority's host.
    public var environment: String
    /// The client that the token was issued to.
    public var clientID: String
    /// The token.
    public var secret: Secret
    /// The family of clients that may share it (`foci`); nil if it is for this client only.
    public var familyID: String?
    /// The scopes that it was issued with, separated by spaces; kept as in MSAL for Python, but not used.
    public var target = ""
    /// When it was stored or rotated, in seconds since 1970.
    public var lastModificationTime: Int?
    /// Unknown members, kept when the record is written back.
    public var other: [String: JSONValue] = [:]

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
    init?(members: [String: JSONValue]) {
        var members = Members(members)
        guard let secret = members.secret("secret") else { return nil }
        self.init(
            homeAccountID: members.text("home_account_id"), environment: members.text("environment"),
            clientID: members.text("client_id"), secret: secret)
        _ = members.optionalText("credential_type")
        familyID = members.optionalText("family_id").flatMap { $0.isEmpty ? nil : $0 }
        target = members.text("target")
        lastModificationTime = members.number("last_modification_time")
        other = members.rest
    }

    var record: CredentialRecord { .refreshToken(self) }

    var members: [String: JSONValue] {
        var members = other
        members.put("credential_type", "RefreshToken")
        members.put("home_account_id", homeAccountID)
        members.put("environment", environment)
        members.put("client_id", clientID)
        members.put("secret", secret.reveal())
        members.put("family_id", familyID)
        members.put("target", target.isEmpty ? nil : target)
        members.put("last_modification_time", seconds: lastModificationTime)
        return members
    }
}
