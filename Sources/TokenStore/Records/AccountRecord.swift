import Addresses
public import JSON

/// An account as in MSAL's unified cache: one record for each realm that the account was used in.
public struct AccountRecord: Sendable, Equatable {
    /// The identifier of the account, the same in every realm.
    public var homeAccountID: String
    /// The authority's host.
    public var environment: String
    /// The realm, such as a tenant or an organisation.
    public var realm: String
    /// The account's ID in this realm.
    public var localAccountID: String?
    /// The account's user name; may be empty.
    public var username: String
    /// The kind of authority, as its plugin named it; nil if another program's cache doesn't say.
    public var authorityType: String?
    /// The user's display name.
    public var name: String?
    /// The authority's `client_info` as received, in base64url.
    public var clientInfo: String?
    /// The realm in the URL of the authority that was asked last, such as a domain; lanyard's own member, like those
    /// below.
    public var requestedRealm: String?
    /// The names of its home realm, lower-cased, the ID first; empty if it has none, or none is known.
    public var homeRealms: [String] = []
    /// The kind of account, in words for the user; nil if that isn't known.
    public var kind: String?
    /// The only policy that the account is used with, lower-cased; nil for none.
    public var policy: String?
    /// The URL of the authority that was asked last.
    public var authority: String?
    /// Unknown members, kept when the record is written back.
    public var other: [String: JSONValue] = [:]

    /// The ID of its home realm; nil if it has none, or if it isn't known.
    public var homeRealm: String? { homeRealms.first }

    /// Creates a record with the fields that every account has.
    public init(homeAccountID: String, environment: String, realm: String, username: String) {
        self.homeAccountID = homeAccountID
        self.environment = environment
        self.realm = realm
        self.username = username
    }
}

extension AccountRecord: MSALRecord {
    init?(members: [String: JSONValue]) {
        var members = Members(members)
        guard let homeAccountID = members.nonemptyText("home_account_id") else { return nil }
        self.init(
            homeAccountID: homeAccountID, environment: members.text("environment"), realm: members.text("realm"),
            username: members.text("username"))
        localAccountID = members.optionalText("local_account_id")
        authorityType = members.optionalText("authority_type")
        name = members.optionalText("name")
        clientInfo = members.optionalText("client_info")
        requestedRealm = members.optionalText("requested_realm")
        homeRealms = members.text("home_realms").pieces(between: " ").map(String.init)
        kind = members.optionalText("account_kind")
        policy = members.optionalText("policy")
        authority = members.optionalText("authority")
        other = members.rest
    }

    var record: CredentialRecord { .account(self) }

    var members: [String: JSONValue] {
        var members = other
        members.put("home_account_id", homeAccountID)
        members.put("environment", environment)
        members.put("realm", realm)
        members.put("local_account_id", localAccountID)
        members.put("username", username)
        members.put("authority_type", authorityType)
        members.put("name", name)
        members.put("client_info", clientInfo)
        members.put("requested_realm", requestedRealm)
        members.put("home_realms", homeRealms.isEmpty ? nil : homeRealms.joined(separator: " "))
        members.put("account_kind", kind)
        members.put("policy", policy)
        members.put("authority", authority)
        return members
    }
}
