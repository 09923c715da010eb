import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON

/// A resource's decision about a request's token.
enum Admission {
    case accepted(username: String)
    case refused(Response)
}

/// Why a token isn't accepted.
enum TokenFault: Error {
    case absent
    case invalid(String)
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

    func checkGit(_ visit: Visit, _ area: GitArea) async -> Admission {
        let challenge = "Bearer realm=\"\", authorization_uri=\"\(authority)\(area.authority)\""
        let claims: Claims
        do throws(TokenFault) {
            claims = try await self.claims(of: visit, for: area.audience)
            try check(claims, belongTo: area)
        } catch {
            return .refused(refusal(error, challenge))
        }
        visit.user =
            claims["preferred_username"]?.string ?? claims["emails"]?.elements.first?.string
            ?? claims["app_displayname"]?.string
        if let response = unmetRequirement(visit, claims, challenge) { return .refused(response) }
        let scopes = (claims["scp"]?.string ?? "").split(separator: " ").map(String.init)
        let roles = claims["roles"]?.elements.compactMap(\.string) ?? []
        guard (scopes + roles).map({ $0.lowercased() }).contains(visit.isPush ? "repo.write" : "repo.read") else {
            return .refused(.text("the token lacks the scope that this needs", status: .forbidden))
        }
        return .accepted(username: visit.user ?? "unknown")
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
        var response = Response.text("this needs a second proof", status: .unauthorized)
        response.headers.append(
            HTTPField(
                name: .wwwAuthenticate, value: "\(challenge), error=\"insufficient_claims\", claims=\"\(base64)\""))
        response.headers.append(HTTPField(name: .wwwAuthenticate, value: "Basic realm=\"lanyard sandbox\""))
        return response
    }

    private func refusal(_ fault: TokenFault, _ challenge: String) -> Response {
        var challenge = challenge
        if case .invalid(let why) = fault {
            challenge += ", error=\"invalid_token\", error_description=\"\(why)\""
        }
        var response = Response.text("sign in to read this", status: .unauthorized)
        response.headers.append(HTTPField(name: .wwwAuthenticate, value: challenge))
        response.headers.append(HTTPField(name: .wwwAuthenticate, value: "Basic realm=\"lanyard sandbox\""))
        return response
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
        guard let header = request.headers[.authorization] else { return nil }
        let parts = header.split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return nil }
        switch parts[0].lowercased() {
        case "bearer": return .bearer(parts[1])
        case "token": return .token(parts[1])
        case "basic":
            guard let data = Data(base64Encoded: parts[1]) else { return nil }
            let pair = String(decoding: data, as: UTF8.self)
            guard let colon = pair.firstIndex(of: ":") else { return nil }
            return .basic(name: String(pair[..<colon]), password: String(pair[pair.index(after: colon)...]))
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
