import Addresses
import Claims
import OAuth
import PluginOAuth
import PluginWire
import Secrets

extension AuthoritySession {
    /// Validates a token response and converts it to a result of the plugin protocol.
    ///
    /// - Parameters:
    ///   - response: The tokens.
    ///   - nonce: The nonce that the ID token must contain; nil if none was sent.
    ///   - account: The home account ID that a renewal must return.
    /// - Returns: The tokens and their account.
    /// - Throws: `broken` if the ID token is invalid or the tokens belong to another account.
    func result(
        _ response: TokenResponse, nonce: String?, account: String? = nil
    ) throws(OAuthError) -> PluginResult {
        let tokens = EntraTokens(response)
        let token = try idToken(response, nonce: nonce)
        let home = try homeAccountID(tokens, token: token, account: account)
        let realm = realm(token: token, home: home)
        var owner = PluginAccount(
            homeAccountID: home, username: (token?.username ?? request.signIn.loginHint ?? "").displayable(limit: 256))
        owner.setHome(tokensFor: realm, username: token?.username, isB2C: authority.kind == .b2c)
        owner.name = token?.name?.displayable(limit: 256)
        owner.localAccountID = token.flatMap { ($0.objectID ?? $0.token.subject).plain(limit: 256) }
        owner.clientInfo = tokens.clientInfo.flatMap { Base64URL.isEncoded($0) ? $0 : nil }
        var result = PluginResult(
            accessToken: response.accessToken, expiresIn: tokens.expiresIn,
            scopes: Scopes.granted(response.scope, requested: request.scopes),
            environment: metadata.preferredNetwork, realm: realm, account: owner)
        result.extendedExpiresIn = tokens.extendedExpiresIn
        result.refreshIn = tokens.refreshIn
        result.refreshToken = response.refreshToken
        result.familyID = tokens.familyID?.plain(limit: 16)
        result.idToken = response.idToken
        result.memo = memo.memo
        result.declinedScopes =
            response.scope.map {
                Scopes.declined(requested: request.scopes, granted: ScopeText.split($0))
            } ?? []
        return result
    }

    private func idToken(_ response: TokenResponse, nonce: String?) throws(OAuthError) -> EntraClaims? {
        guard let text = response.idToken else {
            if nonce == nil { return nil }
            throw OAuthError(.broken, "\(authority.environment) returned no ID token")
        }
        let claims = try EntraClaims(text)
        let issuer = claims.expectedIssuer(configuration.issuer, aliases: metadata.aliases)
        try claims.token.check(
            IDToken.Expectation(issuer: issuer, audience: request.clientID, nonce: nonce), sent: response.sent)
        return claims
    }

    /// Returns `uid.utid` of `client_info`; without it, the ID token's subject, as in MSAL Python and Go.
    private func homeAccountID(
        _ tokens: EntraTokens, token: EntraClaims?, account: String?
    ) throws(OAuthError) -> String {
        var told: String?
        if let text = tokens.clientInfo {
            guard let info = ClientInfo(text) else {
                throw OAuthError(.broken, "\(authority.environment) returned a client_info that cannot be read")
            }
            told = info.homeAccountID
        }
        if let told, let account, told.lowercased() != account.lowercased() {
            throw OAuthError(
                .broken, "\(authority.environment) answered for a different account than requested",
                hint: "sign in again")
        }
        guard let id = (told ?? account ?? token?.token.subject)?.plain(limit: 512) else {
            throw OAuthError(.broken, "\(authority.environment) does not say who signed in")
        }
        return id
    }

    /// Returns the tenant of the tokens: from the ID token, else the token endpoint, else the account's home tenant for
    /// an audience, else the request.
    private func realm(token: EntraClaims?, home: String) -> String {
        if let tenant = token?.tenantID, tenant.isPathName { return tenant.lowercased() }
        if authority.kind == .b2c { return authority.tenant }
        let endpoint = StrictURL(https: configuration.endpoints.token)
        if let tenant = endpoint?.segments.first, tenant.isUUID { return tenant.lowercased() }
        guard authority.audience != .identifier, let tenant = home.pieces(between: ".").last else {
            return authority.tenant
        }
        return tenant.isUUID ? String(tenant) : authority.tenant
    }
}
