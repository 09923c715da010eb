import Addresses
import Crypto
import FoundationEssentials
import Hummingbird
import JSON

/// The token endpoint: exchanges codes, refresh tokens and device codes for tokens.
extension World {
    func token(_ visit: Visit, at authority: AuthorityPath) async throws -> Response {
        if visit.method == .post, visit.form["grant_type"] == "client_credentials" {
            return try await applicationToken(visit, at: authority)
        }
        do {
            let issue = try issue(for: visit, at: authority)
            visit.user = issue.user.username
            return .json(try await tokens(issue, visit: visit))
        } catch let failure as OAuthErrorResponse {
            return failure.response(to: visit)
        }
    }

    private func issue(for visit: Visit, at authority: AuthorityPath) throws(OAuthErrorResponse) -> Issue {
        guard visit.method == .post else {
            throw OAuthErrorResponse("invalid_request", 900_561, "The endpoint only accepts POST requests.")
        }
        let client = try client(of: visit.form, at: authority)
        switch visit.form["grant_type"] {
        case "authorization_code": return try redeemCode(visit, client, authority)
        case "refresh_token": return try redeemRefreshToken(visit, client, authority)
        case "urn:ietf:params:oauth:grant-type:device_code", "device_code":
            return try redeemDeviceCode(visit, client, authority)
        case nil: throw .missing("grant_type")
        case let other?:
            throw OAuthErrorResponse(
                "unsupported_grant_type", 70003, "The app requested an unsupported grant type '\(other)'.")
        }
    }

    /// Returns the client that a form names, if this authority knows it.
    func client(of form: Form, at authority: AuthorityPath) throws(OAuthErrorResponse) -> Client {
        guard let id = form["client_id"] else { throw .missing("client_id") }
        guard let client = directory.client(id), client.tenant == authority.realm.b2cTenant?.domain else {
            throw .unknownClient(id, in: authority.prefix)
        }
        return client
    }

    private func redeemCode(
        _ visit: Visit, _ client: Client, _ authority: AuthorityPath
    ) throws(OAuthErrorResponse) -> Issue {
        guard let text = visit.form["code"] else { throw .missing("code") }
        guard let redirect = visit.form["redirect_uri"] else { throw .missing("redirect_uri") }
        guard let verifier = visit.form["code_verifier"] else { throw .missing("code_verifier") }
        guard let code = ledger.redeem(text), code.grant.request.clientID == client.id else {
            throw OAuthErrorResponse(
                "invalid_grant", 9_002_313, "Invalid request. The authorization code is malformed.")
        }
        guard !code.isRedeemed else {
            throw OAuthErrorResponse(
                "invalid_grant", 54005,
                "OAuth2 Authorization code was already redeemed, please retry with a new valid code.")
        }
        guard code.expires > .now else {
            throw OAuthErrorResponse(
                "invalid_grant", 70008, "The provided authorization code or refresh token has expired.")
        }
        guard code.redirectURI == redirect else {
            throw OAuthErrorResponse(
                "invalid_client", 500_112,
                "The reply address '\(redirect)' does not match the reply address '\(code.redirectURI ?? "")' provided "
                    + "when requesting Authorization code.")
        }
        guard matches(code.grant.request.challenge, verifier: verifier) else {
            throw OAuthErrorResponse(
                "invalid_grant", 501_481,
                "The Code_Verifier does not match the code_challenge supplied in the authorization request.")
        }
        return try issue(code.grant, visit, client, authority)
    }

    private func redeemRefreshToken(
        _ visit: Visit, _ client: Client, _ authority: AuthorityPath
    ) throws(OAuthErrorResponse) -> Issue {
        guard let text = visit.form["refresh_token"] else { throw .missing("refresh_token") }
        guard let token = ledger.with({ $0.refreshTokens[text] }) else {
            throw OAuthErrorResponse(
                "invalid_grant", 9_002_313, "Invalid request. Request is malformed or invalid.", suberror: "bad_token")
        }
        let owner = token.grant.request.client
        guard owner.id == client.id || (owner.family != nil && owner.family == client.family) else {
            throw OAuthErrorResponse(
                "invalid_grant", 70000, "The provided grant was issued to another client.",
                suberror: "client_mismatch")
        }
        visit.user = token.grant.signedIn.username
        guard !token.isRevoked else { throw .revokedGrant }
        let realm = token.grant.request.authority.realm
        guard realm.b2cTenant == authority.realm.b2cTenant, realm.policy == authority.realm.policy else {
            throw OAuthErrorResponse.b2c(
                "invalid_grant", 90088, "The provided grant has not been issued for this endpoint.")
        }
        var issue = try issue(token.grant, visit, client, authority)
        issue.isRenewal = true
        if settings.hasSingleUseRefreshTokens, issue.scopes.wantsRefreshToken, !ledger.spend(refreshToken: text) {
            throw .revokedGrant
        }
        return issue
    }

    /// Gathers the inputs for the tokens, or fails with the step that the user must still complete.
    func issue(
        _ grant: Grant, _ visit: Visit, _ client: Client, _ authority: AuthorityPath
    ) throws(OAuthErrorResponse) -> Issue {
        guard let user = directory.user(grant.signedIn.username) else {
            throw OAuthErrorResponse("invalid_grant", 50034, "The user account does not exist in the directory.")
        }
        guard let tenant = authority.realm.issuer(for: user, in: directory) else {
            throw .unknownUser(user.username, in: authority.prefix)
        }
        let scopes = try scopes(of: visit, grant: grant, client: client, authority)
        let claims = try RequestedClaims(visit.form["claims"])
        try checkConsent(user, scopes, client, authority.realm)
        if let missing = claims.proofs(wantedBy: tenant).first(where: { !grant.signedIn.proofs.contains($0) }) {
            throw OAuthErrorResponse(
                "invalid_grant", 50076,
                "Due to a configuration change made by your administrator, you must use multi-factor authentication "
                    + "to access '\(missing)'.", suberror: "basic_action", claims: claims.text)
        }
        return Issue(
            grant: grant, client: client, user: user, tenant: tenant, realm: authority.realm, scopes: scopes,
            claims: claims, wantsClientInfo: visit.form["client_info"] == "1")
    }

    /// Returns the scopes of one resource: from the form, or else from the grant.
    private func scopes(
        of visit: Visit, grant: Grant, client: Client, _ authority: AuthorityPath
    ) throws(OAuthErrorResponse) -> ScopeRequest {
        guard let text = visit.form["scope"] else {
            var scopes = grant.request.scopes
            if let first = scopes.resources.first { scopes.permissions.removeAll { $0.resource != first } }
            return scopes
        }
        let scopes = try ScopeRequest(text, client: client, realm: authority.realm, in: directory)
        guard scopes.resources.count <= 1 else {
            throw OAuthErrorResponse(
                "invalid_request", 28000,
                "Provided value for the input parameter scope is not valid because it contains more than one resource.")
        }
        return scopes
    }

    private func checkConsent(
        _ user: User, _ scopes: ScopeRequest, _ client: Client, _ realm: Realm
    ) throws(OAuthErrorResponse) {
        let nothingGranted = scopes.resources.first.map {
            scopes.granted(for: $0, to: client, in: directory).isEmpty
        }
        let missing = consentNeeded(by: user, for: scopes, client: client, realm: realm)
        guard missing.isEmpty, nothingGranted != true else {
            throw OAuthErrorResponse(
                "invalid_grant", 65001,
                "The user or administrator has not consented to use the application with ID '\(client.id)' named "
                    + "'\(client.name)'. Send an interactive authorization request for this user and resource.",
                suberror: "consent_required")
        }
    }
}

/// Whether a verifier matches an S256 challenge (RFC 7636, 4.6).
func matches(_ challenge: String, verifier: String) -> Bool {
    Base64URL.encode(SHA256.hash(data: Data(verifier.utf8))) == challenge
}

extension OAuthErrorResponse {
    fileprivate static var revokedGrant: OAuthErrorResponse {
        OAuthErrorResponse(
            "invalid_grant", 50173,
            "The provided grant has expired due to it being revoked, a fresh auth token is needed.",
            suberror: "bad_token")
    }
}

/// Token responses.
extension World {
    /// The inputs for one token response.
    struct Issue: Sendable {
        var grant: Grant
        var client: Client
        var user: User
        /// The issuing tenant, and the realm of the request.
        var tenant: Tenant
        var realm: Realm
        var scopes: ScopeRequest
        var claims: RequestedClaims
        var wantsClientInfo: Bool
        /// Whether a refresh token is redeemed, rather than a sign-in.
        var isRenewal = false
    }

    func tokens(_ issue: Issue, visit: Visit) async throws -> JSONValue {
        let lifetime = settings.accessTokenLifetime
        var answer: [String: JSONValue] = ["token_type": "Bearer", "expires_in": .integer(Int64(lifetime))]
        answer["ext_expires_in"] = .integer(Int64(lifetime * 2))
        answer["refresh_in"] = settings.refreshIn.map { .integer(Int64($0)) }
        answer["scope"] = .string(grantedScope(issue))
        if let token = try await accessToken(issue, lifetime: lifetime) { answer["access_token"] = .string(token) }
        if issue.scopes.openID.contains("openid"), !issue.isRenewal || settings.sendsIDTokenAtRenewal {
            answer["id_token"] = .string(try await key.sign(idToken(issue, visit: visit)))
        }
        if issue.scopes.wantsRefreshToken { answer["refresh_token"] = .string(refreshToken(issue)) }
        if issue.scopes.wantsRefreshToken, let family = issue.client.family { answer["foci"] = .string(family) }
        if issue.wantsClientInfo { answer["client_info"] = .string(clientInfo(of: issue.user, realm: issue.realm)) }
        if issue.realm.policy != nil {
            answer["not_before"] = .integer(Date.now.unix)
            answer["ext_expires_in"] = nil
        }
        return .object(answer)
    }

    private func refreshToken(_ issue: Issue) -> String {
        var grant = issue.grant
        if grant.request.scopes.permissions.isEmpty { grant.request.scopes = issue.scopes }
        let text = "1." + newSecret(bytes: 64)
        ledger.with { [grant] in $0.refreshTokens[text] = .init(grant: grant) }
        return text
    }

    /// Returns the scopes of a response: as requested, with `.default` both expanded and kept.
    private func grantedScope(_ issue: Issue) -> String {
        var names: [String] = []
        if let resource = issue.scopes.resources.first {
            names = issue.scopes.granted(for: resource, to: issue.client, in: directory).map(\.spelled)
            names += issue.scopes.permissions.filter { $0.name == ".default" && $0.resource == resource }.map(\.spelled)
        }
        // Entra lists OpenID Connect's scopes only with a token for Graph; B2C also lists offline_access.
        if issue.realm.policy != nil {
            names += issue.scopes.openID.sorted()
        } else if issue.scopes.resources.first.map({ $0.id == ResourceApp.graphID }) ?? true {
            names += issue.scopes.openID.subtracting(["offline_access"]).sorted()
        }
        return names.joined(separator: " ")
    }

    /// Returns an access token; without a resource's scope, Entra issues one for Graph, B2C none.
    private func accessToken(_ issue: Issue, lifetime: Int) async throws -> String? {
        let resource = issue.scopes.resources.first ?? directory.resource(ResourceApp.graphID)
        guard let resource, issue.realm.policy == nil || !issue.scopes.permissions.isEmpty else { return nil }
        var names = issue.scopes.granted(for: resource, to: issue.client, in: directory).map(\.name)
        if resource.id == ResourceApp.graphID {
            names += issue.scopes.openID.subtracting(["offline_access"]).sorted()
        }
        var claims = common(issue)
        claims["aud"] = .string(issue.realm.policy == nil ? resource.identifiers.first ?? resource.id : resource.id)
        claims["exp"] = .integer(Date.now.unix + Int64(lifetime))
        claims["scp"] = .string(names.joined(separator: " "))
        claims["azp"] = .string(issue.client.id)
        claims["azpacr"] = "0"
        claims["uti"] = .string(newSecret(bytes: 16))
        claims["acct"] = issue.user.tenant == issue.tenant.domain ? 0 : 1
        if !issue.claims.capabilities.isEmpty { claims["xms_cc"] = JSONValue(strings: issue.claims.capabilities) }
        let contexts = issue.grant.signedIn.proofs.subtracting([SignedIn.secondProof])
        if !contexts.isEmpty { claims["acrs"] = JSONValue(strings: contexts.sorted()) }
        return try await key.sign(claims)
    }

    private func idToken(_ issue: Issue, visit: Visit) -> Claims {
        var claims = common(issue)
        claims["aud"] = .string(issue.client.id)
        claims["exp"] = .integer(Date.now.unix + 3600)
        claims["auth_time"] = .integer(issue.grant.signedIn.at.unix)
        // An ID token of a renewal has no nonce (OpenID Connect Core 1.0, 12.2).
        if !issue.isRenewal { claims["nonce"] = issue.grant.request.nonce.map(JSONValue.string) }
        if issue.scopes.openID.contains("email") { claims["email"] = .string(issue.user.username) }
        if let issuer = faults.consume(\.issuer, at: visit.path) { claims["iss"] = .string(issuer) }
        if let nonce = faults.consume(\.nonce, at: visit.path) { claims["nonce"] = .string(nonce) }
        return claims
    }

    private func common(_ issue: Issue) -> Claims {
        let objectID = directory.objectID(of: issue.user, in: issue.tenant) ?? issue.user.id
        let now = Date.now.unix
        var claims: Claims = [
            "iss": .string(issuer(of: issue.tenant)), "iat": .integer(now), "nbf": .integer(now), "ver": "2.0",
            "tid": .string(issue.tenant.id), "oid": .string(objectID),
            "sub": .string(pairwiseSubject(objectID, issue.client)), "name": .string(issue.user.name),
            "preferred_username": .string(issue.user.username),
        ]
        if let policy = issue.realm.policy {
            claims["tfp"] = .string(policy)
            claims["ver"] = "1.0"
            claims["sub"] = .string(objectID)
            claims["emails"] = [.string(issue.user.username)]
            claims["preferred_username"] = nil
        }
        return claims
    }

    /// Returns a pairwise subject, which differs between clients (OpenID Connect Core 8.1).
    private func pairwiseSubject(_ objectID: String, _ client: Client) -> String {
        Base64URL.encode(SHA256.hash(data: Data("\(objectID)|\(client.id)".utf8)))
    }

    /// Returns the account's home IDs, which are the same for a guest; B2C has a separate account per policy.
    func clientInfo(of user: User, realm: Realm) -> String {
        let tenant = directory.home(of: user)?.id ?? ""
        let suffix = realm.policy.map { "-\($0.lowercased())" } ?? ""
        let info: JSONValue = ["uid": .string(user.id + suffix), "utid": .string(tenant)]
        return Base64URL.encode(info.encodedText.utf8)
    }
}

extension ResourceApp {
    static let graphID = "00000003-0000-0000-c000-000000000000"
}
