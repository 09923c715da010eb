import HTTPTypes
import Hummingbird
import JSON

/// The only resource of Graph in this sandbox.
extension World {
    /// Answers `GET /v1.0/me`.
    func me(_ visit: Visit) async -> Response {
        guard let graph = directory.resource(ResourceApp.graphID) else { return Response(status: .notFound) }
        do throws(TokenFault) {
            let claims = try await claims(of: visit, for: graph)
            visit.user = claims["preferred_username"]?.string
            let scopes = (claims["scp"]?.string ?? "").split(separator: " ")
            guard scopes.contains("User.Read") else {
                return problem(
                    "Authorization_RequestDenied", "Insufficient privileges to complete the operation.", visit,
                    status: .forbidden)
            }
            return .json([
                "@odata.context": .string("\(resource)/v1.0/$metadata#users/$entity"),
                "displayName": claims["name"] ?? .null, "userPrincipalName": claims["preferred_username"] ?? .null,
                "mail": claims["preferred_username"] ?? .null, "id": claims["oid"] ?? .null,
            ])
        } catch {
            return unauthorized(error, visit)
        }
    }

    private func unauthorized(_ fault: TokenFault, _ visit: Visit) -> Response {
        let why =
            switch fault {
            case .absent: "Access token is empty."
            case .invalid(let reason): reason
            }
        return problem("InvalidAuthenticationToken", why, visit, status: .unauthorized)
            .challenging("Bearer realm=\"\", authorization_uri=\"\(authority)/common\"\(fault.parameters)")
    }

    private func problem(_ code: String, _ message: String, _ visit: Visit, status: HTTPResponse.Status) -> Response {
        .json(
            [
                "error": [
                    "code": .string(code), "message": .string(message),
                    "innerError": [
                        "date": .string(visit.arrived.entraTimestamp), "request-id": .string(newIdentifier()),
                        "client-request-id": .string(visit.correlationID),
                    ],
                ]
            ], status: status)
    }
}
