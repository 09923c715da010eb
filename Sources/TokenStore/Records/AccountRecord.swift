import Addresses
public import JSON

/// Who signed in, as MSAL's unified cache keeps it: one record for each realm the account was used in.
public struct AccountRecord: Sendable, Equatable {
    /// What identifies the account in every realm.
    public var homeAccountID: String
    /// The authority's host.
    public var environment: String
    /// The realm: a tenant, an organisation.
    public var realm: String
    /// Its id in this realm.
    public var localAccountID: String?
    /// What the person calls the account; may be empty.
    public var username: String
    /// `MSSTS`, `MSA`, `ADFS` or `Other`.
    public var authorityType = "MSSTS"
    /// The person's name for display.
    public var name: String?
    /// The authority's `client_info` as it came, base64url.
    public var clientInfo: String?
    /// The realm named in the authority that was asked last, such as a domain; lanyard's own member, as those that follow.
    public var requestedRealm: String?
    /// What the realm is called that it is at home in, its id first, lower-cased; empty if it has none or nobody told.
    public var homeRealms: [String] = []
    /// What kind of account it is, for people; nil if nobody told.
    public var kind: String?
    /// The policy that it belongs to, lower-cased, and is used with alone.
    public var policy: String?
    /// The URL of the authority that was asked last.
    public var authority: String?
    /// Members nobody here knows; they survive.
    public var other: [String: JSONValue] = [:]

    /// The id of the realm that it is at home in; nil if it has none or nobody told.
    public var homeRealm: String? { homeRealms.first }

    /// Makes a record of what every account has.
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
        guard let homeAccountID = members.optionalText("home_account_id"), !homeAccountID.isEmpty else { return nil }
        self.init(
            homeAccountID: homeAccountID, environment: members.text("environment"), realm: members.text("realm"),
            username: members.text("username"))
        localAccountID = members.optionalText("local_account_id")
        authorityType = members.optionalText("authority_type") ?? "MSSTS"
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
