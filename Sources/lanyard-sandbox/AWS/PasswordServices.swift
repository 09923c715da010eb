import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON
import Synchronization

/// AWS's services that give passwords: ECR, ECR Public and CodeArtifact, for keys of every role but `denied`.
struct PasswordServices: Sendable {
    let world: World

    private static let registry = "https://123456789012.dkr.ecr.eu-central-1.amazonaws.com"
    private static let targets = [
        "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken": "ecr",
        "SpencerFrontendService.GetAuthorizationToken": "ecr-public",
    ]

    /// Whether a body asks for a password as AWS's programs do: ECR's may name registries, which narrow nothing.
    private static func isRequest(_ body: String) -> Bool {
        guard let members = JSONValue(bytes: body.utf8)?.members else { return false }
        return Set(members.keys).isSubset(of: ["registryIds"])
    }

    /// Answers a request; nil if it isn't for these services.
    func answer(_ visit: Visit) -> Response? {
        if let target = visit.header("X-Amz-Target"), visit.method == .post, visit.path == "/" {
            guard let service = Self.targets[target], visit.header("Content-Type") == "application/x-amz-json-1.1",
                Self.isRequest(visit.body)
            else { return refusal("SerializationException", "unknown operation or body", .badRequest) }
            return signed(visit, service) { keys in
                var entry: [String: JSONValue] = [
                    "authorizationToken": .string(
                        Data("AWS:\(password(of: keys, for: service))".utf8).base64EncodedString()),
                    "expiresAt": .number(Double(Date.now.unix) + 43_200.5),
                ]
                if service == "ecr" { entry["proxyEndpoint"] = .string(Self.registry) }
                return ["authorizationData": service == "ecr" ? [.object(entry)] : .object(entry)]
            }
        }
        guard visit.method == .post, visit.path == "/v1/authorization-token" else { return nil }
        guard visit.query["domain"] == "contoso", visit.query["domain-owner"] == "123456789012", visit.body.isEmpty
        else { return refusal("ResourceNotFoundException", "Domain not found", .notFound) }
        // Zero stands for the end of the keys.
        let lifetime = visit.query["duration"].map { Int64($0) ?? -1 } ?? 43_200
        guard lifetime == 0 || (900...43_200).contains(lifetime) else {
            return refusal(
                "ValidationException", "Duration must be 0 or between 900 and 43200 seconds", .badRequest)
        }
        return signed(visit, "codeartifact") { keys in
            [
                "authorizationToken": .string(password(of: keys, for: "codeartifact")),
                "expiration": .integer(lifetime == 0 ? keys.end : Date.now.unix + lifetime),
            ]
        }
    }

    private func password(of keys: SecurityTokenService.Keys, for service: String) -> String {
        let password = newSecret(bytes: 256)
        world.passwords.withLock { $0[password] = (service, keys) }
        return password
    }

    private func signed(_ visit: Visit, _ service: String, _ body: (SecurityTokenService.Keys) -> JSONValue) -> Response
    {
        do throws(HostError) {
            let keys = try Signature.keys(of: visit, for: service, in: world)
            guard !keys.role.hasSuffix("/denied") else {
                return refusal("AccessDeniedException", "User is not authorized to perform this action", .badRequest)
            }
            return .json(body(keys))
        } catch {
            return refusal(error.error, error.message, .badRequest)
        }
    }

    private func refusal(_ type: String, _ words: String, _ status: HTTPResponse.Status) -> Response {
        .json(["__type": .string("com.amazonaws#\(type)"), "message": .string(words)], status: status)
    }
}

extension World {
    /// Returns the keys that a password of one of these services was got with, while they live; nil for any other text.
    func keys(ofPassword text: String, for services: Set<String>) -> SecurityTokenService.Keys? {
        passwords.withLock { $0[text] }.flatMap {
            services.contains($0.service) && $0.keys.end > Date.now.unix ? $0.keys : nil
        }
    }
}
