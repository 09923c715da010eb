import Addresses
package import JSON
import Secrets

/// A caller's request for a token.
package struct TokenQuery: Sendable, Hashable {
    /// The scopes, or a single resource.
    package let names: [String]
    /// The tenant; nil if the request names none.
    package var tenant: String?
}

/// What becomes of a request to the endpoint.
package enum EndpointQuery {
    /// lanyard is asked for a token.
    case wanted(TokenQuery)
    /// The request is refused by this answer.
    case refused(EndpointAnswer)

    static func refusal(_ status: Int, _ message: String) -> Self { .refused(.refusal(status, message)) }
}

/// The result of asking lanyard for a token.
package enum TokenOutcome: Sendable, Equatable {
    /// The token, as lanyard printed it.
    case token(JSONValue)
    /// The user must sign in; with lanyard's message.
    case needsUser(String)
    /// A failure; with lanyard's message.
    case failed(String)
}

/// A protocol for requesting tokens from an endpoint, without any input or output.
package protocol TokenService: Sendable {
    /// Parses a request that came to this computer directly.
    func query(_ request: EndpointRequest) -> EndpointQuery
    /// Returns the arguments for lanyard.
    func arguments(for query: TokenQuery) -> [String]
    /// Returns the answer to a request with this outcome; `now` is in seconds since 1970.
    func answer(to query: TokenQuery, _ outcome: TokenOutcome, now: Int) -> EndpointAnswer
}

extension String {
    /// The longest accepted scope or resource.
    private static let longestName = 2048

    /// Whether it can be a scope or resource: printable ASCII that isn't an option.
    var isTokenName: Bool {
        !isEmpty && utf8.count <= Self.longestName && !hasPrefix("-") && utf8.allSatisfy(\.isVisibleASCII)
    }
}

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

    package func query(_ request: EndpointRequest) -> EndpointQuery {
        guard request.path == Self.path else { return .refusal(404, "nothing is here") }
        guard request.method == "GET" else { return .refusal(405, "only GET is answered") }
        guard let secret = request.header("x-identity-header"), order.secret.isSame(as: secret) else {
            return .refusal(401, "X-IDENTITY-HEADER is not the value of IDENTITY_HEADER")
        }
        let fields = request.query
        guard fields["api-version"] == Self.version else { return .refusal(400, "api-version must be \(Self.version)") }
        guard let resource = fields["resource"], resource.isTokenName else {
            return .refusal(400, "one resource must be named")
        }
        let named = resource.withoutTrailingSlashes
        guard order.resources.contains(where: { $0.withoutTrailingSlashes.isSame(as: named) }) else {
            let shown = resource.displayable(limit: 200)
            return .refusal(400, "tokens for \(shown) are not allowed; run lanyard exec with --resource \(shown)")
        }
        return .wanted(TokenQuery(names: [resource]))
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
        case .needsUser(let message): return .refusal(400, message)
        case .failed(let message): return .refusal(503, message)
        }
    }
}

/// The Azure Developer CLI's protocol at `AZD_AUTH_ENDPOINT` (azd's external authentication).
package struct ExternalAuthService: TokenService {
    private static let version = "2023-07-12-preview"
    private static let mostScopes = 16

    private let order: EndpointOrder

    /// Creates a service for an order.
    package init(_ order: EndpointOrder) { self.order = order }

    package func query(_ request: EndpointRequest) -> EndpointQuery {
        guard request.path == "/token" else { return .refusal(404, "nothing is here") }
        guard request.method == "POST" else { return .refusal(405, "only POST is answered") }
        guard let (scheme, key) = request.header("authorization")?.cut(at: " "), scheme.lowercased() == "bearer",
            order.secret.isSame(as: String(key))
        else { return .refusal(401, "the key is not the value of AZD_AUTH_KEY") }
        guard request.query["api-version"] == Self.version else {
            return .refusal(400, "api-version must be \(Self.version)")
        }
        guard let body = request.body.flatMap({ JSONValue(bytes: $0.utf8, atMost: 1 << 16) }) else {
            return .refusal(400, "the body must be JSON")
        }
        let scopes = body["scopes"]?.elements ?? []
        let names = scopes.compactMap(\.string).filter(\.isTokenName)
        guard !names.isEmpty, names.count == scopes.count, names.count <= Self.mostScopes else {
            return .refusal(400, "scopes must be named")
        }
        let tenant = body["tenantId"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        guard tenant?.isTokenName ?? true else { return .refusal(400, "tenantId must be an id or a domain") }
        return .wanted(TokenQuery(names: names, tenant: tenant))
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
        case .needsUser(let message): Self.error("NotSignedInError", message)
        case .failed(let message): Self.error("GetTokenError", message)
        }
    }

    /// Returns an error; azd shows its message only with status 200.
    private static func error(_ code: String, _ message: String) -> EndpointAnswer {
        EndpointAnswer(200, ["status": "error", "code": .string(code), "message": .string("lanyard: \(message)")])
    }
}
