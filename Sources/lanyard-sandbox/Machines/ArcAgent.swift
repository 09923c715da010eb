import Files
import FoundationEssentials
import Glibc
import HTTPTypes
import Hummingbird
import JSON
import Synchronization

/// The agent of Azure Arc on a machine outside Azure: it issues tokens to callers that can read the file that it names.
struct ArcAgent: Sendable {
    /// The path of its interface; the real one is at the root of a separate port.
    static let folder = "/arc"
    static let path = folder + AzureMetadataService.path
    private static let versions = ["2021-02-01", "2020-06-01", "2019-11-01", "2019-08-15"]

    let world: World

    func answer(_ visit: Visit) async throws -> Response {
        guard visit.method == .get else { return refusal("invalid_request", "Use GET", .methodNotAllowed, visit) }
        guard visit.header("Metadata")?.lowercased() == "true" else {
            return refusal("invalid_request", "Required metadata header not specified", .badRequest, visit)
        }
        guard let version = visit.query["api-version"], Self.versions.contains(version) else {
            return refusal("invalid_request", "api-version is missing or not supported", .badRequest, visit)
        }
        guard let name = visit.query["resource"] else {
            return refusal("invalid_request", "Required audience parameter not specified", .badRequest, visit)
        }
        guard let which = IdentityName(visit.query, objectID: ["object_id"], resourceID: ["msi_res_id"]),
            let identity = world.directory.managedIdentities.first(where: which.means)
        else { return refusal("identity_not_found", "Identity not found", .notFound, visit) }
        guard let key = Self.key(visit) else {
            return try challenge("Missing Basic Authorization header", visit)
        }
        guard world.arcKeys.use(key) else { return try challenge("Invalid Basic Authorization header", visit) }
        return try await token(of: identity, which, for: name, visit)
    }

    private func token(
        of identity: ManagedIdentity, _ which: IdentityName, for name: String, _ visit: Visit
    ) async throws -> Response {
        visit.user = identity.name
        guard let resource = world.machineResource(name) else {
            return refusal("invalid_resource", AzureMetadataService.unknown(name, in: identity), .badRequest, visit)
        }
        var members = AzureMetadataService.members(
            of: try await world.machineToken(of: identity, for: resource), for: name)
        // An agent that supports user-assigned identities says whose token it returned; one that doesn't returns the
        // machine's.
        switch which {
        case .system: break
        case .clientID: members["client_id"] = .string(identity.id)
        case .objectID: members["object_id"] = .string(identity.object)
        case .resourceID: members["msi_res_id"] = .string(identity.resourceID)
        }
        return .json(.object(members))
    }

    /// Returns the file's contents, which the agent expects unencoded and without a user name.
    private static func key(_ visit: Visit) -> String? {
        guard let header = visit.header("Authorization"), header.lowercased().hasPrefix("basic ") else { return nil }
        return String(header.dropFirst("basic ".count))
    }

    private func challenge(_ description: String, _ visit: Visit) throws -> Response {
        let realm = try world.arcKeys.new()
        return refusal("unauthorized_client", description, .unauthorized, visit).challenging("Basic realm=\(realm)")
    }

    private func refusal(
        _ code: String, _ description: String, _ status: HTTPResponse.Status, _ visit: Visit
    ) -> Response {
        .json(
            [
                "error": .string(code), "error_description": .string(description),
                "error_codes": [.integer(Int64(status.code))], "timestamp": .string(visit.arrived.entraTimestamp),
                "trace_id": "", "correlation_id": .string(visit.correlationID),
            ], status: status)
    }
}

/// The keys that the agent has written, each valid for one token.
///
/// Programs read them at `/var/opt/azcmagent/tokens` only. The sandbox writes them to its own folder; to try it, make
/// that folder appear there.
final class ArcKeys: Sendable {
    static let place = "/var/opt/azcmagent/tokens"
    private static let mostKeys = 100

    private let folder: String
    /// The contents of each file, oldest first.
    private let keys = Mutex<[(name: String, key: String)]>([])

    init(folder: String) throws {
        self.folder = folder
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// Writes a new key, and returns the path where programs find it.
    func new() throws -> String {
        let (name, key) = ("\(newIdentifier()).key", newSecret())
        try Folder(folder).write(Array(key.utf8), to: name, isDurable: false)
        keys.withLock { keys in
            keys.append((name, key))
            if keys.count > Self.mostKeys { unlink("\(folder)/\(keys.removeFirst().name)") }
        }
        return "\(Self.place)/\(name)"
    }

    /// Uses a key and removes its file; returns false if there is no such key.
    func use(_ key: String) -> Bool {
        keys.withLock { keys in
            guard let index = keys.firstIndex(where: { $0.key == key }) else { return false }
            unlink("\(folder)/\(keys.remove(at: index).name)")
            return true
        }
    }
}
