import HTTPTypes
import Hummingbird
import JSON

/// A running host: its state, and the world whose users, settings and faults it shares.
struct HostSite: Sendable {
    let world: World
    let host: CodeHost

    var style: CodeHost.Style { host.style }

    func route(_ visit: Visit) async throws -> Response {
        switch (style, visit.segments) {
        case (_, []): .page(Pages.front(of: self))
        case (_, ["favicon.ico"]): Response(status: .noContent)
        case (.issuer, [".well-known", "openid-configuration"]),
            (.issuer, [".well-known", "oauth-authorization-server"]):
            discovery(visit)
        case (.gitea, [".well-known", "openid-configuration"]): giteaDiscovery(visit)
        case (.issuer, [".well-known", "oauth-protected-resource"]): resourceMetadata
        case (.issuer, ["oauth", "discovery", "keys"]), (.gitea, ["login", "oauth", "keys"]):
            .json(world.key.published)
        case (.issuer, ["oauth", "authorize"]), (.forge, ["login", "oauth", "authorize"]),
            (.gitea, ["login", "oauth", "authorize"]):
            authorize(visit)
        case (.issuer, ["oauth", "token"]), (.forge, ["login", "oauth", "access_token"]),
            (.gitea, ["login", "oauth", "access_token"]):
            try await token(visit)
        case (.issuer, ["oauth", "authorize_device"]), (.forge, ["login", "device", "code"]): deviceCode(visit)
        case (.issuer, ["oauth", "device"]), (.forge, ["login", "device"]): devicePage(visit)
        case (.issuer, ["oauth", "userinfo"]), (.gitea, ["login", "oauth", "userinfo"]): userInfo(visit)
        case (.issuer, ["oauth", "revoke"]): revoke(visit)
        case (.issuer, ["oauth", "logout"]): await logout(visit)
        case (.issuer, ["oauth", "register"]) where world.settings.offersRegistration: register(visit)
        case (.forge, ["api", "v3", "user"]): gitHubUser(visit)
        case (.forge, let path)
        where path.count == 5 && path[..<3] == ["api", "v3", "applications"] && path[4] == "token":
            deleteGitHubToken(visit, of: path[3])
        default: .page(Pages.nothingHere, status: .notFound)
        }
    }

    /// Returns a refusal in this host's format; GitHub's have status 200.
    func answer(_ failure: HostFailure, _ visit: Visit) -> Response {
        var members: [String: JSONValue] = [
            "error": .string(failure.name(at: style)), "error_description": .string(failure.message),
        ]
        switch style {
        case .forge:
            members["error_uri"] = "https://docs.github.com/apps/managing-oauth-apps/troubleshooting"
            members["interval"] = failure.interval.map { .integer(Int64($0)) }
            return gitHubAnswer(members, visit)
        case .issuer where failure.error == HostFailure.badClient.error:
            return .json(.object(members), status: .unauthorized).challenging("Basic realm=\"Doorkeeper\"")
        case .issuer, .gitea: return .json(.object(members), status: .badRequest)
        }
    }

    /// Returns a form-encoded answer, or JSON if the request asks for it.
    func gitHubAnswer(_ members: [String: JSONValue], _ visit: Visit) -> Response {
        if visit.header("Accept")?.contains("application/json") == true { return .json(.object(members)) }
        let fields = members.sorted { $0.key < $1.key }
            .map { (name: $0.key, value: $0.value.string ?? $0.value.encodedText) }
        return Response(
            uncached: Form(fields).encoded, type: "application/x-www-form-urlencoded; charset=utf-8", status: .ok)
    }
}
