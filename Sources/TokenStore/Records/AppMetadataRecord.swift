public import JSON

/// The metadata of a client at an authority, as in MSAL's unified cache.
public struct AppMetadataRecord: Sendable, Equatable {
    /// The client.
    public var clientID: String
    /// The authority's host.
    public var environment: String
    /// The client's family: nil if that isn't known yet, "" if the client is known to be in none.
    public var familyID: String?
    /// Unknown members, kept when the record is written back.
    public var other: [String: JSONValue] = [:]

    /// Creates a record.
    public init(clientID: String, environment: String, familyID: String?) {
        self.clientID = clientID
        self.environment = environment
        self.familyID = familyID
    }
}

extension AppMetadataRecord: MSALRecord {
    init?(members: [String: JSONValue]) {
        var members = Members(members)
        guard let clientID = members.nonemptyText("client_id") else { return nil }
        self.init(
            clientID: clientID, environment: members.text("environment"), familyID: members.optionalText("family_id"))
        other = members.rest
    }

    var record: CredentialRecord { .appMetadata(self) }

    var members: [String: JSONValue] {
        var members = other
        members.put("client_id", clientID)
        members.put("environment", environment)
        members.put("family_id", familyID)
        return members
    }
}
