import HTTPTypes
import Hummingbird
import JSON

/// The identity endpoint of App Service, Functions and Container Apps, with its error messages.
struct AppServiceEndpoint: Sendable {
    static let path = "/msi/token"
    private static let version = "2019-08-01"

    let world: World

    func answer(_ visit: Visit) async throws -> Response {
        guard visit.method == .get else { return Self.refusal(.methodNotAllowed, "The method isn't allowed.", visit) }
        guard visit.header("X-IDENTITY-HEADER") == world.identityHeader else {
            return Self.refusal(.unauthorized, "The X-IDENTITY-HEADER header is missing or wrong.", visit)
        }
        guard visit.query["api-version"] == Self.version else {
            return Self.refusal(.badRequest, "The api-version is missing or not supported.", visit)
        }
        guard let name = visit.query["resource"] else {
            return Self.refusal(.badRequest, "The resource is missing.", visit)
        }
        guard
            let which = IdentityName(
                visit.query, objectID: ["object_id", "principal_id"], resourceID: ["mi_res_id"]),
            let identity = world.directory.managedIdentities.first(where: which.means)
        else { return Self.refusal(.badRequest, "Unable to load the proper Managed Identity.", visit) }
        visit.user = identity.name
        guard let resource = world.machineResource(name) else {
            return Self.refusal(
                .internalServerError, "An unexpected error occured while fetching the AAD Token.", visit)
        }
        let token = try await world.machineToken(of: identity, for: resource)
        return .json([
            "access_token": .string(token.text), "client_id": .string(identity.id),
            "expires_on": .string(String(token.end)), "resource": .string(name), "token_type": "Bearer",
        ])
    }

    private static func refusal(_ status: HTTPResponse.Status, _ message: String, _ visit: Visit) -> Response {
        .json(
            [
                "statusCode": .integer(Int64(status.code)), "message": .string(message),
                "correlationId": .string(visit.correlationID),
            ], status: status)
    }
}
