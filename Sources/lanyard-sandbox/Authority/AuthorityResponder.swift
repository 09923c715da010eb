import HTTPTypes
import Hummingbird
import NIOCore

/// What a request may need of the connection it came on.
struct ConnectionContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

/// The authority's port: everything of Entra and B2C, and the tests' own door.
struct AuthorityResponder: HTTPResponder {
    static let largestForm = 256 * 1024

    let world: World

    func respond(to request: Request, context: ConnectionContext) async throws -> Response {
        var request = request
        guard let body = try? await request.collectBody(upTo: Self.largestForm) else {
            return .text("the request body is too large", status: .contentTooLarge)
        }
        if request.uri.path.hasPrefix("/_sandbox/") {
            return await world.control(Visit(request), body: String(buffer: body))
        }
        let visit = Visit(request, body: String(buffer: body))
        return try await world.faults.applied(to: visit, on: context.channel, log: { note(visit, $0) }) {
            try await route(visit)
        }
    }

    private func note(_ visit: Visit, _ status: Int) {
        world.log.note(visit, host: .authority, status: status)
    }

    private func route(_ visit: Visit) async throws -> Response {
        switch visit.segments.map({ $0.lowercased() }) {
        case []: return world.frontPage()
        case ["_actions", "token"]: return try await world.workloadToken(visit)
        case ["_actions", "oidctoken"]: return try await world.pipelineToken(visit)
        case ["favicon.ico"]: return Response(status: .noContent)
        case ["devicelogin"]: return .redirect(to: "/common/oauth2/deviceauth")
        case let path where path.count == 3 && path[1...] == ["discovery", "instance"]:
            return world.instanceDiscovery(visit)
        default: break
        }
        guard let path = AuthorityPath(visit.segments, in: world.directory) else {
            return unknown(visit)
        }
        switch path.rest.map({ $0.lowercased() }) {
        case ["v2.0", ".well-known", "openid-configuration"]: return world.openIDConfiguration(path)
        case ["discovery", "v2.0", "keys"]: return .json(world.key.published)
        case ["oauth2", "v2.0", "authorize"]: return try await world.authorize(visit, at: path)
        case ["oauth2", "v2.0", "token"]: return try await world.token(visit, at: path)
        case ["oauth2", "v2.0", "logout"]: return await world.logout(visit, at: path)
        case ["oauth2", "v2.0", "devicecode"]: return world.deviceCode(visit, at: path)
        case ["oauth2", "deviceauth"]: return world.deviceAuth(visit, at: path)
        default: return .page(Pages.notFound, status: .notFound)
        }
    }

    /// A path without a tenant that exists: told in Entra's shape if it looks like one of Entra's endpoints.
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
