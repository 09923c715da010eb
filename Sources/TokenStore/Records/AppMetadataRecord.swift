public import JSON

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
