import Addresses
import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON

/// Git remotes and a little of Graph, each for those who bring the right token.
extension World {
    func routeResource(_ visit: Visit) async -> Response {
        if visit.segments == ["v1.0", "me"], visit.method == .get { return await me(visit) }
        guard visit.segments.count >= 2, visit.segments[1].hasSuffix(".git"), !visit.climbs,
            let area = GitArea.all(in: self).first(where: { $0.name == visit.segments[0] })
        else { return .text("there is no such resource in this sandbox", status: .notFound) }
        return await repository(visit, in: area)
    }
}

/// A folder of repositories, and the tokens that it accepts.
struct GitArea: Sendable {
    let name: String
    /// The authority's path for callers without a token.
    let authority: String
    /// The tenant that must have issued the token; nil for any but B2C tenants.
    let tenant: Tenant?
    let audience: ResourceApp

    /// Returns `common`, `b2c`, and one area per organization, named after the first part of its domain.
    static func all(in world: World) -> [GitArea] {
        world.directory.tenants.compactMap { tenant in
            let domain = tenant.kind == .b2c ? tenant.domain : nil
            let audience = world.directory.resources.first { resource in
                resource.tenant == domain && resource.identifiers.contains { $0.hasSuffix("sandbox-git") }
            }
            return audience.map { GitArea(of: tenant, audience: $0) }
        }
    }

    private init(of tenant: Tenant, audience: ResourceApp) {
        switch tenant.kind {
        case .consumers: (name, authority) = ("common", "/common")
        case .organization: (name, authority) = (tenant.shortName, "/" + tenant.domain)
        case .b2c: (name, authority) = ("b2c", "/tfp/\(tenant.domain)/\(tenant.policies?.first ?? "")")
        }
        self.tenant = tenant.kind == .consumers ? nil : tenant
        self.audience = audience
    }
}

/// The only resource of Graph in this sandbox.
extension World {
    /// Answers `GET /v1.0/me`.
    func me(_ visit: Visit) async -> Response {
        guard let graph = directory.resource(ResourceApp.graphID) else { return Response(status: .notFound) }
        do throws(HostError) {
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

    private func unauthorized(_ fault: HostError, _ visit: Visit) -> Response {
        problem("InvalidAuthenticationToken", fault.message, visit, status: .unauthorized)
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

extension HostError {
    fileprivate static let absentToken = HostError("", "Access token is empty.")
    fileprivate static func invalidToken(_ why: String) -> HostError { HostError("invalid_token", why) }

    /// The parameters of a Bearer challenge (RFC 6750, 3); a request without a token gets none.
    fileprivate var parameters: String {
        error.isEmpty ? "" : ", error=\"\(error)\", error_description=\"\(message)\""
    }
}

extension World {
    /// Returns the claims of a request's token if the sandbox issued it, it hasn't expired, and it is for this
    /// resource.
    func claims(of visit: Visit, for audience: ResourceApp) async throws(HostError) -> Claims {
        guard let token = visit.presentedToken else { throw .absentToken }
        guard let claims = await key.verify(token) else { throw .invalidToken("The signature is invalid") }
        guard let expiry = claims["exp"]?.integer, expiry > Date.now.unix else {
            throw .invalidToken("The access token has expired")
        }
        guard (claims["nbf"]?.integer ?? 0) <= Date.now.unix + 300 else {
            throw .invalidToken("The access token is not valid yet")
        }
        let names = [audience.id] + audience.identifiers
        guard let aud = claims["aud"]?.string, names.contains(aud) else {
            throw .invalidToken("The audience is invalid")
        }
        guard let tenant = claims["tid"]?.string.flatMap(directory.tenant),
            claims["iss"]?.string == issuer(of: tenant)
        else { throw .invalidToken("The issuer is invalid") }
        return claims
    }

    /// Answers git if its token is right for this area.
    func repository(_ visit: Visit, in area: GitArea) async -> Response {
        let challenge = "Bearer realm=\"\", authorization_uri=\"\(authority)\(area.authority)\""
        let claims: Claims
        do throws(HostError) {
            claims = try await self.claims(of: visit, for: area.audience)
            try check(claims, belongTo: area)
        } catch {
            return .text("sign in to read this", status: .unauthorized).challenging(challenge + error.parameters)
                .challenging("Basic realm=\"lanyard sandbox\"")
        }
        visit.user =
            claims["preferred_username"]?.string ?? claims["emails"]?.elements.first?.string
            ?? claims["app_displayname"]?.string
        if let response = unmetRequirement(visit, claims, challenge) { return response }
        let scopes = (claims["scp"]?.string ?? "").split(separator: " ").map(String.init)
        let roles = claims["roles"]?.elements.compactMap(\.string) ?? []
        guard (scopes + roles).map({ $0.lowercased() }).contains(visit.isPush ? "repo.write" : "repo.read") else {
            return .text("the token lacks the scope that this needs", status: .forbidden)
        }
        let username = visit.user ?? "unknown"
        visit.user = username
        let isKnown =
            directory.requirements.contains { $0.path == visit.repository }
            || visit.repository == "/\(area.name)/hello.git"
        return await git.respond(to: visit, as: username, root: home.repositories, making: isKnown)
    }

    private func check(_ claims: Claims, belongTo area: GitArea) throws(HostError) {
        let tenant = claims["tid"]?.string.flatMap(directory.tenant)
        guard area.tenant.map({ $0 == tenant }) ?? (tenant?.kind != .b2c) else {
            throw .invalidToken("The tenant of the token is not the one of this resource")
        }
    }

    /// Returns the claims challenge of a path that requires an authentication context that the token lacks.
    private func unmetRequirement(_ visit: Visit, _ claims: Claims, _ challenge: String) -> Response? {
        let proved = claims["acrs"]?.elements.compactMap(\.string) ?? []
        guard let requirement = directory.requirements.first(where: { visit.plainPath.hasPrefix($0.path) }),
            !proved.contains(requirement.acrs)
        else { return nil }
        let wanted: JSONValue = [
            "access_token": ["acrs": ["essential": true, "value": .string(requirement.acrs)]]
        ]
        let base64 = Data(wanted.encodedText.utf8).base64EncodedString()
        return .text("this needs a second proof", status: .unauthorized)
            .challenging("\(challenge), error=\"insufficient_claims\", claims=\"\(base64)\"")
            .challenging("Basic realm=\"lanyard sandbox\"")
    }
}

extension Visit {
    /// The authentication scheme of the request, such as `Bearer`; nil if there is none, or nothing but a token.
    var authorizationScheme: String? { request.headers[.authorization]?.cut(at: " ").map { String($0.0) } }

    /// The credentials of a request.
    enum Authorization: Sendable {
        case bearer(String)
        case basic(name: String, password: String)
        /// `token TOKEN`, which older GitHub clients send.
        case token(String)
    }

    /// The contents of the `Authorization` header; nil if it is missing or can't be parsed.
    var authorization: Authorization? {
        guard let (scheme, credentials) = request.headers[.authorization]?.cut(at: " ") else { return nil }
        switch scheme.lowercased() {
        case "bearer": return .bearer(String(credentials))
        case "token": return .token(String(credentials))
        case "basic":
            let pair = Data(base64Encoded: String(credentials)).map { String(decoding: $0, as: UTF8.self) }
            return pair?.cut(at: ":").map { .basic(name: String($0), password: String($1)) }
        default: return nil
        }
    }

    /// The token of `Authorization: Bearer TOKEN`, or of `Basic` with any username and the token as the password.
    fileprivate var presentedToken: String? {
        switch authorization {
        case .bearer(let token), .basic(_, let token): token
        case .token, nil: nil
        }
    }

    var isPush: Bool {
        segments.last == "git-receive-pack" || query["service"] == "git-receive-pack"
    }
}
