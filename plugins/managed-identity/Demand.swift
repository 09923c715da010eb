import Addresses
package import PluginWire
package import Secrets

/// A request for a platform's token.
package struct Demand: Sendable, Equatable {
    /// The identity.
    package var id: ManagedID
    /// The resource, which platforms expect instead of a scope: a scope without its last part.
    package var resource: String
    /// Whether a claims challenge of a server can be answered with a new token.
    package var takesChallenges = false
    /// The token that a server rejected with a claims challenge.
    package var refused: Secret?

    /// Creates a demand for a resource.
    package init(_ id: ManagedID, for resource: String) {
        self.id = id
        self.resource = resource
    }

    /// Parses a request of the host.
    ///
    /// - Throws: `invalidRequest` if it names no identity, or not exactly one resource.
    package init(_ request: PluginRequest) throws(IdentityError) {
        guard let id = request.identity?.managedID.flatMap(ManagedID.init) else {
            throw IdentityError(
                .invalidRequest, "the request doesn't name a managed identity",
                hint: "write system, client-id:ID, object-id:ID or resource-id:ID")
        }
        let named = request.resources.isEmpty ? request.scopes.map(Self.resource) : request.resources
        guard let resource = named.first, !resource.isEmpty else {
            throw IdentityError(
                .invalidRequest, "the request doesn't say what the token is for",
                hint: "name a scope such as https://vault.azure.net/.default")
        }
        guard named.allSatisfy({ $0 == resource }) else {
            throw IdentityError(
                .invalidRequest, "a managed identity's token is for one resource, and the request names several",
                hint: "name scopes of one resource only")
        }
        self.init(id, for: resource)
        takesChallenges = request.capabilities.contains(.claimsChallenge)
        refused = request.claims == nil ? nil : request.accessToken
    }

    /// The only audience with a path like a scope's.
    private static let wholeScope = "https://pas.windows.net/CheckMyAccess/Linux/.default"

    /// Returns a scope's resource: everything before its last part, or the ID at its start.
    ///
    ///     https://vault.azure.net/.default      https://vault.azure.net
    ///     https://graph.contoso.com//read       https://graph.contoso.com/
    ///     12345678-…-123456789012/some/scope    12345678-…-123456789012
    package static func resource(of scope: String) -> String {
        guard !scope.isSame(as: wholeScope), let slash = scope.utf8.lastIndex(of: UInt8(ascii: "/")) else {
            return scope
        }
        guard let (_, rest) = scope.cut(atText: "://") else {
            return String(scope.utf8.prefix { $0 != UInt8(ascii: "/") }) ?? scope
        }
        // A URL without a path, or with an empty one, is already a resource.
        let isScope = slash > rest.startIndex && slash != scope.utf8.index(before: scope.utf8.endIndex)
        return isScope ? String(scope[..<slash]) : scope
    }
}

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
