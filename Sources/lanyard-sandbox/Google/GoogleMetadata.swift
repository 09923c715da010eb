import HTTPTypes
import Hummingbird
import JSON

/// The metadata server of machines in Google's cloud, which has one service account.
struct GoogleMetadata: Sendable {
    private static let path = ["computeMetadata", "v1"]
    private static let flavor = HTTPField.Name("Metadata-Flavor")

    let world: World

    /// Answers a request; nil if it isn't for this server.
    func answer(_ visit: Visit) async throws -> Response? {
        let isRoot = visit.segments.isEmpty && visit.header("Metadata-Flavor") != nil
        guard isRoot || Array(visit.segments.prefix(2)) == Self.path else { return nil }
        // No browser sends the first header, and every proxy sends the second.
        guard visit.header("Metadata-Flavor") == "Google", visit.header("X-Forwarded-For") == nil else {
            return .text("Your client does not have permission to get URL \(visit.path)", status: .forbidden)
        }
        var response = try await content(visit, Array(visit.segments.dropFirst(2)))
        if let flavor = Self.flavor { response.headers[flavor] = "Google" }
        return response
    }

    private func content(_ visit: Visit, _ path: [String]) async throws -> Response {
        let google = GoogleCloud(world: world)
        if path.starts(with: ["instance", "service-accounts"]), path.count == 3, visit.query["recursive"] == "true" {
            return .json([
                "aliases": ["default"], "email": .string(GoogleCloud.account), "scopes": [.string(GoogleCloud.cloud)],
            ])
        }
        guard path.count == 4, path[0] == "instance", path[1] == "service-accounts", visit.method == .get else {
            return path.isEmpty ? .text("computeMetadata/\n", status: .ok) : .text("Not Found", status: .notFound)
        }
        guard ["default", GoogleCloud.account].contains(path[2]) else {
            return .text("Not Found", status: .notFound)
        }
        visit.user = GoogleCloud.account
        switch path[3] {
        case "token":
            let asked = (visit.query["scopes"] ?? GoogleCloud.cloud).split(separator: ",").map(String.init)
            let token = google.newToken(of: GoogleCloud.account, asked)
            return .json([
                "access_token": .string(token.text), "expires_in": .integer(Int64(world.settings.accessTokenLifetime)),
                "token_type": "Bearer",
            ])
        case "identity":
            guard let audience = visit.query["audience"], !audience.isEmpty else {
                return .text("non-empty audience parameter required", status: .badRequest)
            }
            return .text(try await google.idToken(of: GoogleCloud.account, for: audience), status: .ok)
        default: return .text("Not Found", status: .notFound)
        }
    }
}
