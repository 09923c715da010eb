import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON

/// A host's token endpoint: exchanges codes, refresh tokens and device codes for tokens.
extension HostSite {
    /// The inputs for one token response.
    struct Issue: Sendable {
        var grant: Grant
        /// The scopes of the access token, which a renewal may narrow.
        var scopes: [String]
        /// Whether a refresh token is redeemed, rather than a sign-in.
        var isRenewal = false
    }

    func token(_ visit: Visit) async throws -> Response {
        do {
            guard visit.method == .post else { throw HostError.badRequest("This endpoint takes POST requests only.") }
            let issue = HostClient.isProvedByToken(visit) ? try await redeemToken(visit) : try issue(for: visit)
            visit.user = issue.grant.signedIn.username
            return try await answer(issue, visit)
        } catch let failure as HostError {
            return answer(failure, visit)
        }
    }

    private func issue(for visit: Visit) throws(HostError) -> Issue {
        let client = try client(of: visit)
        switch visit.form["grant_type"] {
        case "authorization_code": return try redeemCode(visit, client)
        case nil where style == .forge: return try redeemCode(visit, client)
        case "refresh_token": return try redeemRefreshToken(visit, client)
        case HostClient.deviceGrant: return try redeemDeviceCode(visit, client)
        case "client_credentials" where style == .issuer && client.secret != nil:
            let scopes = try scopes(visit.form["scope"])
            let request = HostRequest(
                client: client, target: nil, scopes: scopes, resources: try resources(of: visit.form))
            // Nobody signed in, so there is no refresh token either (RFC 6749, 4.4.3).
            let grant = Grant(request: request, signedIn: SignedIn(username: client.id, at: .now))
            return Issue(grant: grant, scopes: scopes, isRenewal: true)
        default: throw .unknownGrantType
        }
    }

    /// Returns the client of a request, after authenticating it with its registered method.
    ///
    /// The issuer expects the secret as Basic, with each part form-encoded (RFC 6749, 2.3.1); Gitea accepts Basic or
    /// the form. The forge expects it in the form, and not at all for a device.
    func client(of visit: Visit) throws(HostError) -> HostClient {
        var id = visit.form["client_id"]
        var secret = visit.form["client_secret"]
        if style != .forge, case .basic(let name, let password)? = visit.authorization {
            guard secret == nil else { throw .badRequest("The client proved itself twice.") }
            (id, secret) = (Form.decode(name), Form.decode(password))
        } else if style == .issuer, secret != nil {
            throw .badClient
        }
        guard let client = id.flatMap(host.client) else { throw .badClient }
        let mayOmit = style == .forge && needsNoSecret(visit)
        guard secret == client.secret || secret == nil && mayOmit else { throw .badClient }
        return client
    }

    private func needsNoSecret(_ visit: Visit) -> Bool {
        switch visit.form["grant_type"] {
        case HostClient.deviceGrant: true
        case "refresh_token":
            host.ledger.with { $0.refreshTokens[visit.form["refresh_token"] ?? ""]?.grant.cameFromDevice == true }
        default: visit.segments.last == "code"
        }
    }

    private func redeemCode(_ visit: Visit, _ client: HostClient) throws(HostError) -> Issue {
        guard let text = visit.form["code"] else { throw .missing("code") }
        guard let code = host.ledger.redeem(text), code.grant.request.clientID == client.id, code.expires > .now else {
            throw .badCode
        }
        guard !code.isRedeemed else {
            // The code may have been stolen (RFC 6749, 4.1.2).
            host.ledger.with { $0.end(lineage: code.grant.lineage) }
            throw .badCode
        }
        let redirect = visit.form["redirect_uri"]
        guard redirect == code.redirectURI || redirect == nil && style == .forge else { throw .badRedirect }
        let request = code.grant.request
        guard request.challenge.map({ matches($0, verifier: visit.form["code_verifier"] ?? "") }) ?? true else {
            throw .badVerifier
        }
        return Issue(grant: code.grant, scopes: request.scopes)
    }

    private func redeemRefreshToken(_ visit: Visit, _ client: HostClient) throws(HostError) -> Issue {
        guard let text = visit.form["refresh_token"] else { throw .missing("refresh_token") }
        guard let token = host.ledger.with({ $0.refreshTokens[text] }), token.grant.request.clientID == client.id
        else { throw .badRefreshToken }
        visit.user = token.grant.signedIn.username
        var scopes = token.grant.request.scopes
        if style == .issuer, let asked = visit.form["scope"] {
            let wanted = try self.scopes(asked)
            if let extra = wanted.first(where: { !scopes.contains($0) }) { throw .badScope(extra) }
            scopes = wanted
        }
        let spends = spendsRefreshTokens
        let endsAccess = style == .forge || world.settings.renewalEndsAccessToken
        let isGood = host.ledger.with { state in
            guard state.refreshTokens[text]?.isSpent == false else {
                state.end(lineage: token.grant.lineage)
                return false
            }
            if spends { state.refreshTokens[text]?.isSpent = true }
            if endsAccess { state.endAccess(lineage: token.grant.lineage) }
            return true
        }
        guard isGood else { throw .badRefreshToken }
        return Issue(grant: token.grant, scopes: scopes, isRenewal: true)
    }

    /// Whether refresh tokens are single-use: GitHub's and Forgejo's always are, others if the settings say so.
    private var spendsRefreshTokens: Bool {
        style == .forge || host.name == .forgejo || world.settings.hasSingleUseRefreshTokens
    }

    // MARK: Answers

    private func answer(_ issue: Issue, _ visit: Visit) async throws -> Response {
        switch style {
        case .issuer, .gitea: .json(.object(try await openIDAnswer(issue, visit)))
        case .forge: gitHubAnswer(gitHubTokens(issue), visit)
        }
    }

    private func openIDAnswer(_ issue: Issue, _ visit: Visit) async throws -> [String: JSONValue] {
        let lifetime = world.settings.accessTokenLifetime
        var answer: [String: JSONValue] = [
            "access_token": .string(accessToken(issue, prefix: "", lifetime: lifetime)), "token_type": "Bearer",
            "expires_in": .integer(Int64(lifetime)), "scope": .string(issue.scopes.joined(separator: " ")),
            "created_at": .integer(Date.now.unix),
        ]
        if visit.form["grant_type"] == HostClient.exchangeGrant {
            answer["issued_token_type"] = "urn:ietf:params:oauth:token-type:access_token"
        }
        if sendsRefreshToken(with: issue) {
            answer["refresh_token"] = .string(refreshToken(issue, prefix: ""))
        }
        if issue.scopes.contains("openid"), !issue.isRenewal || world.settings.sendsIDTokenAtRenewal {
            answer["id_token"] = .string(try await world.key.sign(idToken(issue, visit)))
        }
        return answer
    }

    /// Whether a response contains a refresh token.
    ///
    /// Gitea sends a new one with every response, whatever the scopes. GitLab includes one in responses for repository
    /// scopes; a client with OpenID Connect's scopes only must request it.
    private func sendsRefreshToken(with issue: Issue) -> Bool {
        let isNeeded = !issue.isRenewal || spendsRefreshTokens
        let isForLong = issue.grant.request.scopes.contains { $0 == "offline_access" || $0.hasSuffix("_repository") }
        return style == .gitea || isNeeded && isForLong && issue.grant.request.client.grants.contains("refresh_token")
    }

    /// Returns tokens with GitHub's prefixes: `gho_` for access tokens of OAuth apps, which end if they may be renewed, `ghu_`
    /// for those of GitHub Apps.
    private func gitHubTokens(_ issue: Issue) -> [String: JSONValue] {
        let isApp = issue.grant.request.client.isApp
        let scope = JSONValue.string(isApp ? "" : issue.scopes.joined(separator: ","))
        guard isApp || issue.scopes.contains("offline_access") else {
            return [
                "access_token": .string(accessToken(issue, prefix: "gho_", lifetime: nil)), "token_type": "bearer",
                "scope": scope,
            ]
        }
        let lifetime = world.settings.accessTokenLifetime
        let token = accessToken(issue, prefix: isApp ? "ghu_" : "gho_", lifetime: lifetime)
        return [
            "access_token": .string(token), "token_type": "bearer", "scope": scope,
            "expires_in": .integer(Int64(lifetime)),
            "refresh_token": .string(refreshToken(issue, prefix: "ghr_")), "refresh_token_expires_in": 15_897_600,
        ]
    }

    private func accessToken(_ issue: Issue, prefix: String, lifetime: Int?) -> String {
        let text = prefix + newSecret()
        let expires = lifetime.map { Date.now.addingTimeInterval(TimeInterval($0)) }
        host.ledger.with { $0.accessTokens[text] = .init(grant: issue.grant, scopes: issue.scopes, expires: expires) }
        return text
    }

    private func refreshToken(_ issue: Issue, prefix: String) -> String {
        let text = prefix + newSecret(bytes: 48)
        host.ledger.with { $0.refreshTokens[text] = .init(grant: issue.grant) }
        return text
    }

    private func idToken(_ issue: Issue, _ visit: Visit) -> Claims {
        let now = Date.now.unix
        var claims = claims(about: issue.grant)
        claims["iss"] = .string(world.faults.consume(\.issuer, at: visit.path) ?? host.url)
        claims["aud"] = .string(issue.grant.request.client.id)
        claims["exp"] = .integer(now + min(3600, Int64(world.settings.accessTokenLifetime)))
        claims["iat"] = .integer(now)
        claims["auth_time"] = .integer(issue.grant.signedIn.at.unix)
        // An ID token of a renewal has no nonce (OpenID Connect Core 1.0, 12.2).
        let nonce = issue.isRenewal ? nil : issue.grant.request.nonce
        claims["nonce"] = (world.faults.consume(\.nonce, at: visit.path) ?? nonce).map(JSONValue.string)
        return claims
    }

    /// Returns the claims about the user that a grant's scopes allow.
    func claims(about grant: Grant) -> Claims {
        guard let user = known(grant.signedIn.username) else { return [:] }
        var claims: Claims = ["sub": .string(style == .gitea ? String(user.number) : user.id)]
        if grant.request.scopes.contains("profile") || style == .gitea {
            claims["name"] = .string(user.name)
            claims["preferred_username"] = .string(user.login)
        }
        if grant.request.scopes.contains("email") { claims["email"] = .string(user.username) }
        if grant.request.scopes.contains("groups") {
            let own = world.directory.tenants.filter { world.directory.objectID(of: user, in: $0) != nil }
            claims["groups"] = JSONValue(strings: own.map(\.shortName))
        }
        return claims
    }
}

/// The OpenID Connect issuer's endpoints besides the sign-in.
extension HostSite {
    /// Returns the metadata document, which is the same at both well-known locations (OpenID Connect Discovery 1.0 and
    /// RFC 8414).
    func discovery(_ visit: Visit) -> Response {
        let url = host.url
        var members: [String: JSONValue] = [
            "issuer": .string(world.faults.consume(\.issuer, at: visit.path) ?? url),
            "authorization_endpoint": .string("\(url)/oauth/authorize"),
            "token_endpoint": .string("\(url)/oauth/token"), "revocation_endpoint": .string("\(url)/oauth/revoke"),
            "userinfo_endpoint": .string("\(url)/oauth/userinfo"),
            "end_session_endpoint": .string("\(url)/oauth/logout"),
            "jwks_uri": .string("\(url)/oauth/discovery/keys"),
            "scopes_supported": JSONValue(strings: knownScopes.map(\.key)), "response_types_supported": ["code"],
            "response_modes_supported": ["query", "fragment", "form_post"],
            "grant_types_supported": JSONValue(strings: HostClient.allGrants.sorted()),
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "private_key_jwt", "none"],
            "token_endpoint_auth_signing_alg_values_supported": ["RS256"],
            "revocation_endpoint_auth_methods_supported": ["client_secret_basic", "none"],
            "code_challenge_methods_supported": ["S256"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "authorization_response_iss_parameter_supported": true,
            "claims_supported": [
                "sub", "iss", "aud", "exp", "iat", "auth_time", "name", "preferred_username", "email",
            ],
        ]
        if world.settings.deviceCodeLifetime > 0 {
            members["device_authorization_endpoint"] = .string("\(url)/oauth/authorize_device")
        }
        if world.settings.offersRegistration { members["registration_endpoint"] = .string("\(url)/oauth/register") }
        return .json(.object(members))
    }

    /// Returns Gitea's document, which has no device codes, revocation or end-session endpoint.
    func giteaDiscovery(_ visit: Visit) -> Response {
        let url = host.url
        return .json([
            "issuer": .string(world.faults.consume(\.issuer, at: visit.path) ?? url),
            "authorization_endpoint": .string("\(url)/login/oauth/authorize"),
            "token_endpoint": .string("\(url)/login/oauth/access_token"),
            "jwks_uri": .string("\(url)/login/oauth/keys"),
            "userinfo_endpoint": .string("\(url)/login/oauth/userinfo"),
            "response_types_supported": ["code", "id_token"], "id_token_signing_alg_values_supported": ["RS256"],
            "subject_types_supported": ["public"], "scopes_supported": ["openid", "profile", "email", "groups"],
            "code_challenge_methods_supported": ["plain", "S256"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
        ])
    }

    /// The metadata of the repositories, with the issuer of their tokens (RFC 9728).
    var resourceMetadata: Response {
        .json([
            "resource": .string(host.url), "authorization_servers": [.string(host.url)],
            "scopes_supported": ["read_repository", "write_repository"], "bearer_methods_supported": ["header"],
        ])
    }

    /// Revokes a token (RFC 7009).
    ///
    /// Revoking a refresh token revokes its whole sign-in. An unknown token is no error.
    func revoke(_ visit: Visit) -> Response {
        do throws(HostError) {
            let client = try client(of: visit)
            guard let token = visit.form["token"] else { throw .missing("token") }
            let grant = host.ledger.with { $0.refreshTokens[token]?.grant ?? $0.accessTokens[token]?.grant }
            guard grant.map({ $0.request.clientID == client.id }) ?? true else {
                throw HostError("unauthorized_client", "The token was issued to another client.")
            }
            visit.user = grant?.signedIn.username
            host.ledger.with { state in
                if let grant = state.refreshTokens[token]?.grant { state.end(lineage: grant.lineage) }
                state.accessTokens[token] = nil
            }
            return .json([:])
        } catch {
            return answer(error, visit)
        }
    }

    func userInfo(_ visit: Visit) -> Response {
        // Gitea's has no scopes to check: a token without any has all permissions.
        guard let token = visit.bearer.flatMap(liveToken), style == .gitea || token.scopes.contains("openid") else {
            return .json(["error": "invalid_token"], status: .unauthorized)
                .challenging("Bearer error=\"invalid_token\"")
        }
        visit.user = token.grant.signedIn.username
        return .json(.object(claims(about: token.grant)))
    }

    /// Handles the end-session endpoint (OpenID Connect RP-Initiated Logout 1.0).
    func logout(_ visit: Visit) async -> Response {
        let parameters = visit.parameters
        var user = parameters["logout_hint"].flatMap(known)
        var client = parameters["client_id"].flatMap(host.client)
        if let hint = parameters["id_token_hint"], let claims = await world.key.verify(hint),
            claims["iss"]?.string == host.url
        {
            let subject = claims["sub"]?.string
            user = user ?? world.directory.users.first { $0.id == subject }
            client = client ?? claims["aud"]?.string.flatMap(host.client)
        }
        visit.user = user?.username
        if let session = visit.cookie(host.sessionCookie) {
            host.ledger.forget(user?.username, inSession: session)
        }
        guard let target = parameters["post_logout_redirect_uri"],
            client?.accepts(redirect: target, at: style) == true
        else { return .page(Pages.signedOut) }
        let state = parameters["state"].map { [(name: "state", value: $0)] } ?? []
        return ReturnAddress(uri: target, mode: .query, state: nil).response(Form(state))
    }
}
