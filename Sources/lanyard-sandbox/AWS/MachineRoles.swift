import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON
import Synchronization

/// What gives AWS's machines the keys of their role: the instance metadata service in its second version only, and the service for
/// containers.
struct MachineRoles: Sendable {
    static let containerPath = "/v2/credentials/task"
    private static let metadata = "/latest/meta-data/iam/security-credentials/"
    private static let region = "/latest/meta-data/placement/region"
    private static let session = "/latest/api/token"
    private static let role = "machine"

    let world: World

    /// Answers a request; nil if it isn't for these services.
    func answer(_ visit: Visit) -> Response? {
        switch visit.path {
        case Self.session: begin(visit)
        case Self.metadata, Self.metadata + Self.role, Self.region: metadata(visit)
        case Self.containerPath: container(visit)
        case let path where path.hasPrefix("/latest/"): .text("Not Found", status: .notFound)
        default: nil
        }
    }

    private func begin(_ visit: Visit) -> Response {
        // A proxy that anybody reaches adds this header.
        guard visit.header("X-Forwarded-For") == nil else { return .text("Forbidden", status: .forbidden) }
        guard visit.method == .put else { return .text("Method Not Allowed", status: .methodNotAllowed) }
        let lifetime = visit.header("X-aws-ec2-metadata-token-ttl-seconds").flatMap { Int($0) }
        guard let lifetime, (1...21_600).contains(lifetime) else { return .text("Bad Request", status: .badRequest) }
        let token = newSecret()
        world.metadataSessions.withLock { $0[token] = Date.now.unix + Int64(lifetime) }
        return Response(uncached: token, type: "text/plain", status: .ok)
    }

    private func metadata(_ visit: Visit) -> Response {
        let token = visit.header("X-aws-ec2-metadata-token") ?? ""
        guard visit.method == .get, let end = world.metadataSessions.withLock({ $0[token] }), end > Date.now.unix else {
            return .text("Unauthorized", status: .unauthorized)
        }
        if visit.path == Self.region { return Response(uncached: "eu-central-1", type: "text/plain", status: .ok) }
        guard visit.path != Self.metadata else { return Response(uncached: Self.role, type: "text/plain", status: .ok) }
        var members = keys(visit)
        members.merge(["Code": "Success", "Type": "AWS-HMAC", "LastUpdated": .string(Date.now.formatted(.iso8601))]) {
            $1
        }
        return .json(.object(members))
    }

    private func container(_ visit: Visit) -> Response {
        guard visit.method == .get, visit.header("Authorization") == world.identityHeader else {
            return .json(
                ["code": "AccessDenied", "message": "The authorization token is wrong"], status: .unauthorized)
        }
        var members = keys(visit)
        members["RoleArn"] = .string("\(SecurityTokenService.roles)/\(Self.role)")
        return .json(.object(members))
    }

    private func keys(_ visit: Visit) -> [String: JSONValue] {
        let (id, keys) = world.newKeys(
            role: "arn:aws:sts::123456789012:assumed-role/\(Self.role)", name: "i-0123456789abcdef0")
        visit.user = keys.name
        return [
            "AccessKeyId": .string(id), "SecretAccessKey": .string(keys.secret), "Token": .string(keys.session),
            "Expiration": .string(Date(timeIntervalSince1970: Double(keys.end)).formatted(.iso8601)),
        ]
    }
}
