import Addresses
import JSON
import Secrets

/// App Service's protocol at `IDENTITY_ENDPOINT`, which every Azure SDK uses if the variable is set.
///
/// The token is the user's own. If a program names an identity, that is ignored: there is no other.
package struct ManagedIdentityService: TokenService {
    /// The endpoint's path.
    package static let path = "/msi/token"
    private static let version = "2019-08-01"
    /// The lifetime in seconds that is reported for a token without a known expiry.
    private static let shortest = 300

    private let order: EndpointOrder

    /// Creates a service for an order.
    package init(_ order: EndpointOrder) { self.order = order }

    package func query(_ request: EndpointRequest) throws(EndpointAnswer) -> TokenQuery {
        guard request.path == Self.path else { throw .refusal(404, "nothing is here") }
        guard request.method == "GET" else { throw .refusal(405, "only GET is answered") }
        guard let secret = request.header("x-identity-header"), order.secret.isSame(as: secret) else {
            throw .refusal(401, "X-IDENTITY-HEADER is not the value of IDENTITY_HEADER")
        }
        let fields = request.query
        guard fields["api-version"] == Self.version else { throw .refusal(400, "api-version must be \(Self.version)") }
        guard let resource = fields["resource"], resource.isTokenName else {
            throw .refusal(400, "one resource must be named")
        }
        let named = resource.withoutTrailingSlashes
        guard order.resources.contains(where: { $0.withoutTrailingSlashes.isSame(as: named) }) else {
            let shown = resource.displayable(limit: 200)
            throw .refusal(400, "tokens for \(shown) are not allowed; run lanyard exec with --resource \(shown)")
        }
        return TokenQuery(names: [resource])
    }

    package func arguments(for query: TokenQuery) -> [String] {
        ["token", "--json", "--non-interactive"] + order.options + query.names.flatMap { ["--resource", $0] }
    }

    package func answer(to query: TokenQuery, _ outcome: TokenOutcome, now: Int) -> EndpointAnswer {
        switch outcome {
        case .token(let token):
            guard let secret = token["accessToken"]?.string else { return .refusal(500, "there is no token") }
            let end = token["expires_on"]?.wholeNumber ?? now + Self.shortest
            return EndpointAnswer(
                200,
                [
                    "access_token": .string(secret), "expires_on": .string(String(end)),
                    "resource": .string(query.names.first ?? ""), "token_type": "Bearer",
                ])
        // SDKs retry after some statuses, which helps only if the network or the keyring was the cause.
        case .needsPerson(let message): return .refusal(400, message)
        case .failed(let message): return .refusal(503, message)
        }
    }
}
