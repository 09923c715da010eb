import Addresses
import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON

/// Why a token isn't accepted.
enum TokenFault: Error {
    case absent
    case invalid(String)

    /// The parameters of a Bearer challenge (RFC 6750, 3).
    var parameters: String {
        switch self {
        case .absent: ""
        case .invalid(let why): ", error=\"invalid_token\", error_description=\"\(why)\""
        }
    }
}

extension World {
    /// Returns the claims of a request's token if the sandbox issued it, it hasn't expired, and it is for this
    /// resource.
    func claims(of visit: Visit, for audience: ResourceApp) async throws(TokenFault) -> Claims {
        guard let token = visit.presentedToken else { throw .absent }
        guard let claims = await key.verify(token) else { throw .invalid("The signature is invalid") }
        guard let expiry = claims["exp"]?.integer, expiry > Date.now.unix else {
            throw .invalid("The access token has expired")
        }
        guard (claims["nbf"]?.integer ?? 0) <= Date.now.unix + 300 else {
            throw .invalid("The access token is not valid yet")
        }
        let names = [audience.id] + audience.identifiers
        guard let aud = claims["aud"]?.string, names.contains(aud) else {
            throw .invalid("The audience is invalid")
        }
        guard let tenant = claims["tid"]?.string.flatMap(directory.tenant),
            claims["iss"]?.string == issuer(of: tenant)
        else { throw .invalid("The issuer is invalid") }
        return claims
    }

    /// Answers git if its token is right for this area.
    func repository(_ visit: Visit, in area: GitArea) async -> Response {
        let challenge = "Bearer realm=\"\", authorization_uri=\"\(authority)\(area.authority)\""
        let claims: Claims
        do throws(TokenFault) {
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

    private func check(_ claims: Claims, belongTo area: GitArea) throws(TokenFault) {
        let tenant = claims["tid"]?.string.flatMap(directory.tenant)
        guard area.tenant.map({ $0 == tenant }) ?? (tenant?.kind != .b2c) else {
            throw .invalid("The tenant of the token is not the one of this resource")
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
    /// The authentication scheme of the request, such as `Bearer`; nil if there is none.
    var authorizationScheme: String? {
        request.headers[.authorization]?.split(separator: " ", maxSplits: 1).first.map(String.init)
    }

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
