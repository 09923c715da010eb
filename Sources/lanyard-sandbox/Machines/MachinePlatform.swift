import JSON

/// The platforms whose machine tokens the sandbox issues.
enum MachinePlatform: String, CaseIterable, Sendable {
    case metadataService = "imds"
    case appService = "app-service"
    case arc = "azure-arc"

    /// The name of such a machine in messages.
    var words: String {
        switch self {
        case .metadataService: "virtual machine"
        case .appService: "App Service"
        case .arc: "Azure Arc"
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
            throw SandboxError("the identity \(identity.name) is of a tenant that doesn't exist")
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
