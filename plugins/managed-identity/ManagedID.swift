import Addresses
import Secrets

/// Selects one of a machine's identities.
package enum ManagedID: Sendable, Equatable {
    /// The system-assigned identity.
    case system
    /// A user-assigned identity, by its client ID.
    case clientID(String)
    /// A user-assigned identity, by the object ID of its service principal.
    case objectID(String)
    /// A user-assigned identity, by its resource ID in Azure Resource Manager.
    case resourceID(String)

    /// Parses `managed_id` of the plugin protocol; nil for anything else, or if an ID is empty.
    package init?(_ text: String) {
        guard text != "system" else {
            self = .system
            return
        }
        guard let (kind, id) = text.cut(at: ":"), !id.isEmpty else { return nil }
        switch kind {
        case "client-id": self = .clientID(String(id))
        case "object-id": self = .objectID(String(id))
        case "resource-id": self = .resourceID(String(id))
        default: return nil
        }
    }

    /// The identity's name in messages, after a verb or a preposition.
    package var words: String {
        switch self {
        case .system: "the machine's own identity"
        case .clientID(let id): "the identity with client ID \(id.displayable(limit: 100))"
        case .objectID(let id): "the identity with object ID \(id.displayable(limit: 100))"
        case .resourceID(let id): "the identity \(id.displayable(limit: 300))"
        }
    }

    /// Returns the query parameter that names the identity, with the platform's own name for resource IDs; empty for
    /// the system-assigned identity.
    package func parameter(resourceID name: String) -> [String: String] {
        switch self {
        case .system: [:]
        case .clientID(let id): ["client_id": id]
        case .objectID(let id): ["object_id": id]
        case .resourceID(let id): [name: id]
        }
    }
}
