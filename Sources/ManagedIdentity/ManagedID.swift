import Addresses
import Secrets

/// Which of a machine's identities is meant.
package enum ManagedID: Sendable, Equatable {
    /// The machine's own.
    case system
    /// One that was assigned to it, by its client ID.
    case clientID(String)
    /// One that was assigned to it, by the ID of its service principal.
    case objectID(String)
    /// One that was assigned to it, by its place in Azure Resource Manager.
    case resourceID(String)

    /// Reads `managed_id` of the plugin protocol; nil of anything else, or of an ID that is empty.
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

    /// What people call it, after a verb or a preposition.
    package var words: String {
        switch self {
        case .system: "the machine's own identity"
        case .clientID(let id): "the identity with client ID \(id.displayable(limit: 100))"
        case .objectID(let id): "the identity with object ID \(id.displayable(limit: 100))"
        case .resourceID(let id): "the identity \(id.displayable(limit: 300))"
        }
    }

    /// The parameter that names it in a query, a resource's ID by the name that the platform has for it; none for the machine's own.
    package func parameter(resourceID name: String) -> [String: String] {
        switch self {
        case .system: [:]
        case .clientID(let id): ["client_id": id]
        case .objectID(let id): ["object_id": id]
        case .resourceID(let id): [name: id]
        }
    }
}
