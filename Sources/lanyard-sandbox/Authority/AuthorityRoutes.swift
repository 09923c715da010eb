import Hummingbird

/// Everything of Entra and B2C.
extension World {
    func routeAuthority(_ visit: Visit) async throws -> Response {
        switch visit.segments.map({ $0.lowercased() }) {
        case []: return .page(Pages.front(self))
        case ["_actions", "token"]: return try await workloadToken(visit)
        case ["_actions", "oidctoken"]: return try await pipelineToken(visit)
        case ["favicon.ico"]: return Response(status: .noContent)
        case ["devicelogin"]: return .redirect(to: "/common/oauth2/deviceauth")
        case let path where path.count == 3 && path[1...] == ["discovery", "instance"]:
            return instanceDiscovery(visit)
        default: break
        }
        guard let path = AuthorityPath(visit.segments, in: directory) else { return unknown(visit) }
        switch path.rest.map({ $0.lowercased() }) {
        case ["v2.0", ".well-known", "openid-configuration"]: return openIDConfiguration(path)
        case ["discovery", "v2.0", "keys"]: return .json(key.published)
        case ["oauth2", "v2.0", "authorize"]: return authorize(visit, at: path)
        case ["oauth2", "v2.0", "token"]: return try await token(visit, at: path)
        case ["oauth2", "v2.0", "logout"]: return await logout(visit, at: path)
        case ["oauth2", "v2.0", "devicecode"]: return deviceCode(visit, at: path)
        case ["oauth2", "deviceauth"]: return deviceAuth(visit)
        default: return .page(Pages.notFound, status: .notFound)
        }
    }

    /// Answers a path without an existing tenant, in Entra's format if it looks like one of Entra's endpoints.
    private func unknown(_ visit: Visit) -> Response {
        let last = visit.segments.last?.lowercased() ?? ""
        guard visit.segments.count > 2 else { return .page(Pages.notFound, status: .notFound) }
        let failure = OAuthFailure.unknownTenant(visit.segments[0])
        if ["authorize", "logout", "deviceauth"].contains(last) {
            return .page(Pages.refusal(failure, visit), status: .badRequest)
        }
        return failure.response(to: visit)
    }
}
