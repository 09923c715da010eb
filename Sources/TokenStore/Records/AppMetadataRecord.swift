public import JSON

/// What is known of a client at an authority, as MSAL's unified cache keeps it.
public struct AppMetadataRecord: Sendable, Equatable {
    /// The client that this is about.
    public var clientID: String
    /// The authority's host.
    public var environment: String
    /// The client's family: nil if nobody knows yet, "" if the client is known to be in none.
    public var familyID: String?
    /// Members nobody here knows; they survive.
    public var other: [String: JSONValue] = [:]

    /// Makes a record.
    public init(clientID: String, environment: String, familyID: String?) {
        self.clientID = clientID
        self.environment = environment
        self.familyID = familyID
    }
}

extension AppMetadataRecord: MSALRecord {
    init?(members: [String: JSONValue]) {
        var members = Members(members)
        guard let clientID = members.optionalText("client_id"), !clientID.isEmpty else { return nil }
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
