import HTTPTypes
import Hummingbird
import NIOCore

/// The context of a request, with the connection it arrived on.
struct ConnectionContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

/// One port: it reads what is asked, notes it, and answers as usual or as a test wants it to fail.
struct PortResponder: HTTPResponder {
    static let largestForm = 256 * 1024

    let world: World
    let host: RequestLog.Host
    /// Whether a request's body is read before it is answered; git's are read by git.
    var takesBody: @Sendable (Visit) -> Bool = { _ in true }
    let answer: @Sendable (Visit) async throws -> Response

    func respond(to request: Request, context: ConnectionContext) async throws -> Response {
        var request = request
        var visit = Visit(request)
        if takesBody(visit) {
            guard let body = try? await request.collectBody(upTo: Self.largestForm) else {
                return .text("the request body is too large", status: .contentTooLarge)
            }
            visit = Visit(request, bytes: body)
        }
        let asked = visit
        // The tests' own door has no faults and is in no log.
        if host == .authority, asked.path.hasPrefix("/_sandbox/") { return await world.control(asked) }
        return try await world.faults.applied(
            to: asked, on: context.channel, log: { world.log.add(asked, host: host, status: $0) }
        ) {
            try await answer(asked)
        }
    }
}

extension PortResponder {
    /// Everything of Entra and B2C, and the tests' own door.
    static func authority(of world: World) -> PortResponder {
        PortResponder(world: world, host: .authority, answer: world.routeAuthority)
    }

    /// Git remotes and a little of Graph.
    static func resource(of world: World) -> PortResponder {
        PortResponder(world: world, host: .resource, takesBody: { _ in false }, answer: world.routeResource)
    }

    /// What takes Entra's tokens only in exchange for its own: a registry as Azure has them, and AWS; and Google Cloud.
    static func exchanges(of world: World) -> PortResponder {
        PortResponder(world: world, host: .exchanges) { visit in
            if let answer = CloudRepositories(world: world).answer(visit) { return answer }
            if SecurityTokenService.isMeant(visit) { return try await SecurityTokenService(world: world).answer(visit) }
            if let answer = IdentityCenter(world: world).answer(visit) ?? PasswordServices(world: world).answer(visit) {
                return answer
            }
            if let answer = try await GoogleCloud(world: world).answer(visit) { return answer }
            return try await Registry(world: world).route(visit)
        }
    }

    /// The issuer's images, at an address of their own.
    static func registry(of world: World) -> PortResponder {
        let site = HostSite(world: world, host: world.issuer)
        return PortResponder(world: world, host: .registry) { visit in
            visit.segments.first == "v2" ? site.images(visit) : .text("Not found", status: .notFound)
        }
    }

    /// The platforms that give machines their tokens: as there, whoever reaches it is on the machine.
    static func machine(of world: World) -> PortResponder {
        PortResponder(world: world, host: .machine) { visit in
            if let answer = try await GoogleMetadata(world: world).answer(visit) { return answer }
            if let answer = MachineRoles(world: world).answer(visit) { return answer }
            return switch visit.path {
            case AppServiceEndpoint.path: try await AppServiceEndpoint(world: world).answer(visit)
            case ArcAgent.path: try await ArcAgent(world: world).answer(visit)
            default: try await AzureMetadataService(world: world).answer(visit)
            }
        }
    }

    /// One of the hosts beside the Entra, and its repositories.
    static func host(_ host: CodeHost, of world: World) -> PortResponder {
        let site = HostSite(world: world, host: host)
        return PortResponder(world: world, host: host.name, takesBody: { !$0.isForRepository || $0.isForLargeFiles }) {
            visit in
            visit.isForRepository ? await site.repository(visit) : try await site.route(visit)
        }
    }
}
