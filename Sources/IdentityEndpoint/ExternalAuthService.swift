import Addresses
import JSON
import Secrets

/// The Azure Developer CLI's protocol at `AZD_AUTH_ENDPOINT` (azd's external authentication).
package struct ExternalAuthService: TokenService {
    private static let version = "2023-07-12-preview"
    private static let mostScopes = 16

    private let order: EndpointOrder

    /// Creates a service for an order.
    package init(_ order: EndpointOrder) { self.order = order }

    package func query(_ request: EndpointRequest) throws(EndpointAnswer) -> TokenQuery {
        guard request.path == "/token" else { throw .refusal(404, "nothing is here") }
        guard request.method == "POST" else { throw .refusal(405, "only POST is answered") }
        guard let (scheme, key) = request.header("authorization")?.cut(at: " "), scheme.lowercased() == "bearer",
            order.secret.isSame(as: String(key))
        else { throw .refusal(401, "the key is not the value of AZD_AUTH_KEY") }
        guard request.query["api-version"] == Self.version else {
            throw .refusal(400, "api-version must be \(Self.version)")
        }
        guard let body = request.body.flatMap({ JSONValue(bytes: $0.utf8, atMost: 1 << 16) }) else {
            throw .refusal(400, "the body must be JSON")
        }
        let scopes = body["scopes"]?.elements ?? []
        let names = scopes.compactMap(\.string).filter(\.isTokenName)
        guard !names.isEmpty, names.count == scopes.count, names.count <= Self.mostScopes else {
            throw .refusal(400, "scopes must be named")
        }
        let tenant = body["tenantId"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        guard tenant?.isTokenName ?? true else { throw .refusal(400, "tenantId must be an id or a domain") }
        return TokenQuery(names: names, tenant: tenant)
    }

    package func arguments(for query: TokenQuery) -> [String] {
        ["azd", "auth", "token", "--output", "json", "--no-prompt"] + query.names.flatMap { ["--scope", $0] }
            + (query.tenant.map { ["--tenant-id", $0] } ?? [])
    }

    package func answer(to query: TokenQuery, _ outcome: TokenOutcome, now: Int) -> EndpointAnswer {
        switch outcome {
        case .token(let token):
            EndpointAnswer(
                200,
                ["status": "success", "token": token["token"] ?? .null, "expiresOn": token["expiresOn"] ?? .null])
        case .needsPerson(let message): Self.error("NotSignedInError", message)
        case .failed(let message): Self.error("GetTokenError", message)
        }
    }

    /// Returns an error; azd shows its message only with status 200.
    private static func error(_ code: String, _ message: String) -> EndpointAnswer {
        EndpointAnswer(200, ["status": "error", "code": .string(code), "message": .string("lanyard: \(message)")])
    }
}
