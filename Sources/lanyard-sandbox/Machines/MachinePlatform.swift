import JSON
import Terminal

/// The platforms whose machine tokens the sandbox issues.
enum MachinePlatform: String, CaseIterable, Sendable {
    case metadataService = "imds"
    case appService = "app-service"
    case arc = "azure-arc"
    case instance = "ec2"
    case container = "ecs"

    /// The name of such a machine in messages.
    var words: String {
        switch self {
        case .metadataService: "virtual machine"
        case .appService: "App Service"
        case .arc: "Azure Arc"
        case .instance: "Amazon EC2"
        case .container: "Amazon ECS"
        }
    }
}

extension World {
    /// Returns the variables that direct a machine's programs to the sandbox instead of the platform; for App Service
    /// and Azure Arc, they are the real ones.
    func variables(of platform: MachinePlatform) -> [(name: String, value: String)] {
        switch platform {
        case .metadataService: [("AZURE_POD_IDENTITY_AUTHORITY_HOST", machine)]
        case .appService:
            [("IDENTITY_ENDPOINT", machine + AppServiceEndpoint.path), ("IDENTITY_HEADER", identityHeader)]
        case .arc:
            [("IDENTITY_ENDPOINT", machine + ArcAgent.path), ("IMDS_ENDPOINT", machine + ArcAgent.folder)]
        case .instance: [("AWS_EC2_METADATA_SERVICE_ENDPOINT", machine)]
        case .container:
            [
                ("AWS_CONTAINER_CREDENTIALS_FULL_URI", machine + MachineRoles.containerPath),
                ("AWS_CONTAINER_AUTHORIZATION_TOKEN", identityHeader),
            ]
        }
    }

    /// The first user-assigned identity.
    var assignedIdentity: ManagedIdentity? { directory.managedIdentities.first { $0.system != true } }

    /// Returns the resource of a machine's token; nil if no tenant of Entra knows it by this name.
    func machineResource(_ name: String) -> ResourceApp? {
        directory.resource(name).flatMap { $0.tenant == nil ? $0 : nil }
    }

    /// Returns a token for a machine's identity.
    func machineToken(of identity: ManagedIdentity, for resource: ResourceApp) async throws -> MachineToken {
        guard let tenant = directory.tenant(identity.tenant) else {
            throw CommandError("the identity \(identity.name) is of a tenant that doesn't exist")
        }
        let lifetime = settings.machineTokenLifetime
        var claims = claims(of: identity, in: tenant, for: resource, lifetime: lifetime)
        claims["azpacr"] = "2"
        claims["xms_mirid"] = .string(identity.resourceID)
        return MachineToken(
            text: try await key.sign(claims), start: claims["iat"]?.integer ?? 0, lifetime: Int64(lifetime))
    }
}

/// A token and its validity period.
struct MachineToken: Sendable {
    let text: String
    let start: Int64
    let lifetime: Int64
    var end: Int64 { start + lifetime }
}

/// A managed identity of a machine in Azure.
struct ManagedIdentity: Codable, Sendable, Equatable, TokenOwner {
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
