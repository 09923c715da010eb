import Addresses
import Claims
import OAuth
import PluginOAuth
import PluginWire
import Secrets

extension AuthoritySession {
    /// Checks an answer of the token endpoint and puts it into the plugin protocol's terms.
    ///
    /// - Parameters:
    ///   - response: the tokens.
    ///   - nonce: what the ID token must name; nil if none was sent.
    ///   - account: the home account id that must be answered for, of a refresh.
    /// - Returns: the tokens and whose they are.
    /// - Throws: `broken` if the ID token is wrong or the tokens are another account's.
    func result(
        _ response: TokenResponse, nonce: String?, account: String? = nil
    ) throws(OAuthError) -> PluginResult {
        let tokens = try EntraTokens(response, from: authority.environment)
        let token = try idToken(response, nonce: nonce)
        let home = try homeAccountID(tokens, token: token, account: account)
        let realm = realm(token: token, home: home)
        var owner = PluginAccount(
            homeAccountID: home, username: (token?.username ?? request.signIn.loginHint ?? "").displayable(limit: 256))
        owner.authorityType = "MSSTS"
        owner.homeRealms = homeRealms(of: home, in: realm, username: token?.username)
        owner.kind = kind(of: owner)
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

    /// `uid.utid` of `client_info`; of an authority that gives none the ID token's subject, as MSAL Python and Go have it.
    private func homeAccountID(
        _ tokens: EntraTokens, token: EntraClaims?, account: String?
    ) throws(OAuthError) -> String {
        var told: String?
        if let text = tokens.clientInfo {
            do throws(ClientInfoError) {
                told = try ClientInfo(text).homeAccountID
            } catch {
                throw OAuthError(.broken, "\(authority.environment) returned a client_info that cannot be read")
            }
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

    /// The account's home tenant, by its id and, if it is of an organisation and these tokens are for it, by its domain.
    private func homeRealms(of home: String, in realm: String, username: String?) -> [String] {
        guard let tenant = home.pieces(between: ".").last.map({ $0.lowercased() }), tenant.isUUID
        else { return [] }
        guard authority.kind == .aad, tenant != ClientInfo.personalTenant, tenant == realm,
            let domain = username?.cut(atLast: "@")?.1.lowercased(), HTTPSAddress.isName(domain)
        else { return [tenant] }
        return [tenant, domain]
    }

    private func kind(of account: PluginAccount) -> String {
        if account.homeRealms.first == ClientInfo.personalTenant { return "personal" }
        return authority.kind == .b2c ? "B2C" : "work or school"
    }

    /// The tenant the tokens are for: of the ID token, else of the token endpoint, else the account's home for an
    /// audience, else as asked.
    private func realm(token: EntraClaims?, home: String) -> String {
        if let tenant = token?.tenantID, HTTPSAddress.isName(tenant) { return tenant.lowercased() }
        if authority.kind == .b2c { return authority.tenant }
        let endpoint = try? HTTPSAddress(configuration.endpoints.token)
        if let tenant = endpoint?.segments.first, tenant.isUUID { return tenant.lowercased() }
        guard authority.audience != .identifier, let tenant = home.pieces(between: ".").last else {
            return authority.tenant
        }
        return tenant.isUUID ? String(tenant) : authority.tenant
    }
}
