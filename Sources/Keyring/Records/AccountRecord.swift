import Addresses
public import JSON

/// An account as in MSAL's unified cache: one record for each realm that the account was used in.
public struct AccountRecord: Sendable, Equatable {
    /// The identifier of the account, the same in every realm.
    public var homeAccountID = ""
    /// The authority's host.
    public var environment = ""
    /// The realm, such as a tenant or an organisation.
    public var realm = ""
    /// The account's ID in this realm.
    public var localAccountID: String?
    /// The account's user name; may be empty.
    public var username = ""
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
    /// The plugin that got it from a broker's sign-in, through which it is renewed; nil if the user signed in to lanyard.
    public var broker: String?
    /// The plugin through which it signed in; nil for one that ships with lanyard.
    public var plugin: String?
    /// Unknown members, kept when the record is written back.
    public var other: [String: JSONValue] = [:]

    /// The ID of its home realm; nil if it has none, or if it isn't known.
    public var homeRealm: String? { homeRealms.first }

    init() {}

    /// Creates a record with the fields that every account has.
    public init(homeAccountID: String, environment: String, realm: String, username: String) {
        self.homeAccountID = homeAccountID
        self.environment = environment
        self.realm = realm
        self.username = username
    }
}

extension AccountRecord: MSALRecord {
    var record: CredentialRecord { .account(self) }

    mutating func list(_ members: inout Members) {
        members.text("home_account_id", &homeAccountID)
        members.require(!homeAccountID.isEmpty)
        members.text("environment", &environment)
        members.text("realm", &realm)
        members.text("local_account_id", &localAccountID)
        members.text("username", &username)
        members.text("authority_type", &authorityType)
        members.text("name", &name)
        members.text("client_info", &clientInfo)
        members.text("requested_realm", &requestedRealm)
        var realms = homeRealms.joined(separator: " ")
        members.nonemptyText("home_realms", &realms)
        homeRealms = realms.pieces(between: " ").map(String.init)
        members.text("account_kind", &kind)
        members.text("policy", &policy)
        members.text("authority", &authority)
        members.text("lanyard_broker", &broker)
        members.text("lanyard_plugin", &plugin)
    }
}

/// The metadata of a client at an authority, as in MSAL's unified cache.
public struct AppMetadataRecord: Sendable, Equatable {
    /// The client.
    public var clientID = ""
    /// The authority's host.
    public var environment = ""
    /// The client's family: nil if that isn't known yet, "" if the client is known to be in none.
    public var familyID: String?
    /// Unknown members, kept when the record is written back.
    public var other: [String: JSONValue] = [:]

    init() {}

    /// Creates a record.
    public init(clientID: String, environment: String, familyID: String?) {
        self.clientID = clientID
        self.environment = environment
        self.familyID = familyID
    }
}

extension AppMetadataRecord: MSALRecord {
    var record: CredentialRecord { .appMetadata(self) }

    mutating func list(_ members: inout Members) {
        members.text("client_id", &clientID)
        members.require(!clientID.isEmpty)
        members.text("environment", &environment)
        members.text("family_id", &familyID)
    }
}
