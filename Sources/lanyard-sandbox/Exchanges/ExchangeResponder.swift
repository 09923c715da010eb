import HTTPTypes
import Hummingbird

/// The port of what takes Entra's tokens only in exchange for its own: a registry as Azure has them, and AWS's token service.
struct ExchangeResponder: HTTPResponder {
    let world: World

    func respond(to request: Request, context: ConnectionContext) async throws -> Response {
        var request = request
        guard let body = try? await request.collectBody(upTo: AuthorityResponder.largestForm) else {
            return .text("the request body is too large", status: .contentTooLarge)
        }
        let visit = Visit(request, body: String(buffer: body))
        return try await world.faults.applied(
            to: visit, on: context.channel, log: { world.log.note(visit, host: .exchanges, status: $0) }
        ) {
            if TokenService.isMeant(visit) { return try await TokenService(world: world).answer(visit) }
            return try await Registry(world: world).route(visit)
        }
    }
}
