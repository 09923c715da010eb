import Addresses
import Crypto
import FoundationEssentials
import Hummingbird

/// The token endpoint: exchanges codes, refresh tokens and device codes for tokens.
extension World {
    func token(_ visit: Visit, at authority: AuthorityPath) async throws -> Response {
        if visit.method == .post, visit.form["grant_type"] == "client_credentials" {
            return try await applicationToken(visit, at: authority)
        }
        do {
            let issue = try redeem(visit, at: authority)
            visit.user = issue.user.username
            return .json(try await tokens(issue, visit: visit))
        } catch let failure as OAuthFailure {
            return failure.response(to: visit)
        }
    }

    private func redeem(_ visit: Visit, at authority: AuthorityPath) throws(OAuthFailure) -> Issue {
        guard visit.method == .post else {
            throw OAuthFailure("invalid_request", 900_561, "The endpoint only accepts POST requests.")
        }
        let client = try client(of: visit.form, at: authority)
        switch visit.form["grant_type"] {
        case "authorization_code": return try redeemCode(visit, client, authority)
        case "refresh_token": return try redeemRefreshToken(visit, client, authority)
        case "urn:ietf:params:oauth:grant-type:device_code", "device_code":
            return try redeemDeviceCode(visit, client, authority)
        case nil: throw .missing("grant_type")
        case let other?:
            throw OAuthFailure(
                "unsupported_grant_type", 70003, "The app requested an unsupported grant type '\(other)'.")
        }
    }

    /// Returns the client that a form names, if this authority knows it.
    func client(of form: Form, at authority: AuthorityPath) throws(OAuthFailure) -> Client {
        guard let id = form["client_id"] else { throw .missing("client_id") }
        guard let client = directory.client(id), client.tenant == authority.realm.b2cTenant?.domain else {
            throw .unknownClient(id, in: authority.prefix)
        }
        return client
    }

    private func redeemCode(
        _ visit: Visit, _ client: Client, _ authority: AuthorityPath
    ) throws(OAuthFailure) -> Issue {
        guard let text = visit.form["code"] else { throw .missing("code") }
        guard let redirect = visit.form["redirect_uri"] else { throw .missing("redirect_uri") }
        guard let verifier = visit.form["code_verifier"] else { throw .missing("code_verifier") }
        guard let code = ledger.redeem(text), code.grant.request.clientID == client.id else {
            throw OAuthFailure("invalid_grant", 9_002_313, "Invalid request. The authorization code is malformed.")
        }
        guard !code.isRedeemed else {
            throw OAuthFailure(
                "invalid_grant", 54005,
                "OAuth2 Authorization code was already redeemed, please retry with a new valid code.")
        }
        guard code.expires > .now else {
            throw OAuthFailure("invalid_grant", 70008, "The provided authorization code or refresh token has expired.")
        }
        guard code.redirectURI == redirect else {
            throw OAuthFailure(
                "invalid_client", 500_112,
                "The reply address '\(redirect)' does not match the reply address '\(code.redirectURI ?? "")' provided "
                    + "when requesting Authorization code.")
        }
        guard matches(code.grant.request.challenge, verifier: verifier) else {
            throw OAuthFailure(
                "invalid_grant", 501_481,
                "The Code_Verifier does not match the code_challenge supplied in the authorization request.")
        }
        return try issue(code.grant, visit, client, authority)
    }

    private func redeemRefreshToken(
        _ visit: Visit, _ client: Client, _ authority: AuthorityPath
    ) throws(OAuthFailure) -> Issue {
        guard let text = visit.form["refresh_token"] else { throw .missing("refresh_token") }
        guard let token = ledger.with({ $0.refreshTokens[text] }) else {
            throw OAuthFailure(
                "invalid_grant", 9_002_313, "Invalid request. Request is malformed or invalid.", suberror: "bad_token")
        }
        let owner = token.grant.request.client
        guard owner.id == client.id || (owner.family != nil && owner.family == client.family) else {
            throw OAuthFailure(
                "invalid_grant", 70000, "The provided grant was issued to another client.",
                suberror: "client_mismatch")
        }
        visit.user = token.grant.signedIn.username
        guard !token.isRevoked else { throw .revokedGrant }
        let realm = token.grant.request.authority.realm
        guard realm.b2cTenant == authority.realm.b2cTenant, realm.policy == authority.realm.policy else {
            throw OAuthFailure.b2c("invalid_grant", 90088, "The provided grant has not been issued for this endpoint.")
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
    ) throws(OAuthFailure) -> Issue {
        guard let user = directory.user(grant.signedIn.username) else {
            throw OAuthFailure("invalid_grant", 50034, "The user account does not exist in the directory.")
        }
        guard let tenant = authority.realm.issuer(for: user, in: directory) else {
            throw .unknownUser(user.username, in: authority.prefix)
        }
        let scopes = try scopes(of: visit, grant: grant, client: client, authority)
        let claims = try ClaimsRequest(visit.form["claims"])
        try checkConsent(user, scopes, client, authority.realm)
        if let missing = claims.proofs(wantedBy: tenant).first(where: { !grant.signedIn.proofs.contains($0) }) {
            throw OAuthFailure(
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
    ) throws(OAuthFailure) -> ScopeRequest {
        guard let text = visit.form["scope"] else {
            var scopes = grant.request.scopes
            if let first = scopes.resources.first { scopes.permissions.removeAll { $0.resource != first } }
            return scopes
        }
        let scopes = try ScopeRequest(text, client: client, realm: authority.realm, in: directory)
        guard scopes.resources.count <= 1 else {
            throw OAuthFailure(
                "invalid_request", 28000,
                "Provided value for the input parameter scope is not valid because it contains more than one resource.")
        }
        return scopes
    }

    private func checkConsent(
        _ user: User, _ scopes: ScopeRequest, _ client: Client, _ realm: Realm
    ) throws(OAuthFailure) {
        let nothingGranted = scopes.resources.first.map {
            scopes.granted(for: $0, to: client, in: directory).isEmpty
        }
        let missing = consentNeeded(by: user, for: scopes, client: client, realm: realm)
        guard missing.isEmpty, nothingGranted != true else {
            throw OAuthFailure(
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

extension OAuthFailure {
    fileprivate static var revokedGrant: OAuthFailure {
        OAuthFailure(
            "invalid_grant", 50173,
            "The provided grant has expired due to it being revoked, a fresh auth token is needed.",
            suberror: "bad_token")
    }
}
