import HTTPTypes
import Hummingbird

/// The port of the platforms that give machines their tokens: as there, whoever reaches it is on the machine.
struct MachineResponder: HTTPResponder {
    let world: World

    func respond(to request: Request, context: ConnectionContext) async throws -> Response {
        var request = request
        guard let body = try? await request.collectBody(upTo: AuthorityResponder.largestForm) else {
            return .text("the request body is too large", status: .contentTooLarge)
        }
        let visit = Visit(request, body: String(buffer: body))
        return try await world.faults.applied(
            to: visit, on: context.channel, log: { world.log.note(visit, host: .machine, status: $0) }
        ) {
            switch visit.path {
            case AppServiceEndpoint.path: return try await AppServiceEndpoint(world: world).answer(visit)
            case ArcAgent.path: return try await ArcAgent(world: world).answer(visit)
            default: return try await MetadataService(world: world).answer(visit)
            }
        }
    }
}
