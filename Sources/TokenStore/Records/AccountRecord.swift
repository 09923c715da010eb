public import JSON

/// Who signed in, as MSAL's unified cache keeps it: one record for each tenant the account was used in.
public struct AccountRecord: Sendable, Equatable {
    /// `uid.utid`; for B2C the uid is `oid-policy`.
    public var homeAccountID: String
    /// The authority's host.
    public var environment: String
    /// The tenant.
    public var realm: String
    /// The object id in this tenant.
    public var localAccountID: String?
    /// What the person calls the account; may be empty.
    public var username: String
    /// `MSSTS`, `MSA`, `ADFS` or `Other`.
    public var authorityType = "MSSTS"
    /// The person's name for display.
    public var name: String?
    /// The authority's `client_info` as it came, base64url.
    public var clientInfo: String?
    /// The realm named in the authority that was asked last, such as a domain; lanyard's own member.
    public var requestedRealm: String?
    /// Members nobody here knows; they survive.
    public var other: [String: JSONValue] = [:]

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
        other = members.rest
    }

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
        return members
    }
}
