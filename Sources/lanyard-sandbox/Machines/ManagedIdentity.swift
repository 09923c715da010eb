/// A managed identity of a machine in Azure.
struct ManagedIdentity: Decodable, Sendable, Equatable, TokenOwner {
    var name: String
    /// The domain of its tenant.
    var tenant: String
    /// The client ID.
    var id: String
    /// The object ID of its service principal.
    var object: String
    /// Its resource ID in Azure Resource Manager; for a system-assigned identity, the machine's.
    var resourceID: String
    /// Whether it is system-assigned.
    var system: Bool?
    /// Its roles at every resource.
    var roles: [String]

    private enum CodingKeys: String, CodingKey {
        case name, tenant, id, object, system, roles
        case resourceID = "resource-id"
    }
}

/// The identity that a request names.
enum IdentityName: Sendable, Equatable {
    /// None, which means the system-assigned identity.
    case system
    case clientID(String)
    case objectID(String)
    case resourceID(String)

    /// Reads a query, in which a platform has its own names for the parameters; nil if it names several.
    init?(_ query: Form, objectID: [String], resourceID: [String]) {
        let named =
            ["client_id"].compactMap { query[$0] }.map(Self.clientID)
            + objectID.compactMap { query[$0] }.map(Self.objectID)
            + resourceID.compactMap { query[$0] }.map(Self.resourceID)
        guard named.count < 2 else { return nil }
        self = named.first ?? .system
    }

    func means(_ identity: ManagedIdentity) -> Bool {
        func isSame(_ one: String, _ other: String) -> Bool { one.lowercased() == other.lowercased() }
        return switch self {
        case .system: identity.system == true
        case .clientID(let id): identity.system != true && isSame(id, identity.id)
        case .objectID(let id): identity.system != true && isSame(id, identity.object)
        case .resourceID(let id): identity.system != true && isSame(id, identity.resourceID)
        }
    }
}
