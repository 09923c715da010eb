import HTTPTypes
import Hummingbird
import JSON

/// A running host: its state, and the world whose users, settings and faults it shares.
struct HostSite: Sendable {
    let world: World
    let host: CodeHost

    var style: CodeHost.Style { host.style }

    func route(_ visit: Visit) async throws -> Response {
        switch visit.segments {
        case []: return .page(Pages.front(of: self))
        case ["favicon.ico"]: return Response(status: .noContent)
        default: break
        }
        return switch style {
        case .issuer: try await routeIssuer(visit)
        case .forge: try await routeForge(visit)
        case .gitea: try await routeGitea(visit)
        }
    }

    private func routeGitea(_ visit: Visit) async throws -> Response {
        switch visit.segments {
        case [".well-known", "openid-configuration"]: return giteaDiscovery(visit)
        case ["login", "oauth", "keys"]: return .json(world.key.published)
        case ["login", "oauth", "authorize"]: return authorize(visit)
        case ["login", "oauth", "access_token"]: return try await token(visit)
        case ["login", "oauth", "userinfo"]: return userInfo(visit)
        default: return .page(Pages.nothingHere, status: .notFound)
        }
    }

    private func routeIssuer(_ visit: Visit) async throws -> Response {
        switch visit.segments {
        case [".well-known", "openid-configuration"], [".well-known", "oauth-authorization-server"]:
            return discovery(visit)
        case [".well-known", "oauth-protected-resource"]: return resourceMetadata
        case ["oauth", "discovery", "keys"]: return .json(world.key.published)
        case ["oauth", "authorize"]: return authorize(visit)
        case ["oauth", "token"]: return try await token(visit)
        case ["oauth", "authorize_device"]: return deviceCode(visit)
        case ["oauth", "device"]: return devicePage(visit)
        case ["oauth", "revoke"]: return revoke(visit)
        case ["oauth", "userinfo"]: return userInfo(visit)
        case ["oauth", "logout"]: return await logout(visit)
        case ["oauth", "register"] where world.settings.offersRegistration: return register(visit)
        default: return .page(Pages.nothingHere, status: .notFound)
        }
    }

    private func routeForge(_ visit: Visit) async throws -> Response {
        switch visit.segments {
        case ["login", "oauth", "authorize"]: return authorize(visit)
        case ["login", "oauth", "access_token"]: return try await token(visit)
        case ["login", "device", "code"]: return deviceCode(visit)
        case ["login", "device"]: return devicePage(visit)
        case ["api", "v3", "user"]: return gitHubUser(visit)
        case let path where path.count == 5 && path.starts(with: ["api", "v3", "applications"]) && path[4] == "token":
            return deleteGitHubToken(visit, of: path[3])
        default: return .page(Pages.nothingHere, status: .notFound)
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
