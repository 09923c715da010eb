public import JSON
public import Secrets

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
