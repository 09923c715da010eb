import Addresses
import FoundationEssentials
import PluginWire
import Secrets

extension AuthoritySession {
    /// Checks an answer of the token endpoint and puts it into the plugin protocol's terms.
    ///
    /// - Parameters:
    ///   - response: the tokens.
    ///   - nonce: what the id token must name; nil where none was sent.
    ///   - account: the home account id that must be answered for, of a refresh.
    /// - Returns: the tokens and whose they are.
    /// - Throws: `internal` where the id token is wrong or the tokens are another account's.
    func result(
        _ response: TokenResponse, nonce: String?, account: String? = nil
    ) throws(PluginError) -> PluginResult {
        let token = try idToken(response, nonce: nonce)
        let home = try homeAccountID(response, token: token, account: account)
        var result = PluginResult(
            accessToken: response.accessToken, expiresIn: response.expiresIn,
            scopes: Scopes.granted(response.scope, requested: request.scopes),
            account: PluginAccount(
                homeAccountID: home, environment: metadata.preferredNetwork, realm: realm(token: token, home: home),
                username: (token?.username ?? request.loginHint ?? "").displayable(limit: 256)))
        result.extendedExpiresIn = response.extendedExpiresIn
        result.refreshIn = response.refreshIn
        result.refreshToken = response.refreshToken
        result.familyID = response.familyID?.plain(limit: 16)
        result.idToken = response.idToken
        result.declinedScopes =
            response.scope.map {
                Scopes.declined(requested: request.scopes, granted: Scopes.split($0))
            } ?? []
        result.account.name = token?.name?.displayable(limit: 256)
        result.account.localAccountID = token.flatMap { ($0.objectID ?? $0.subject).plain(limit: 256) }
        result.account.clientInfo = response.clientInfo.flatMap { Base64URL.isEncoded($0) ? $0 : nil }
        return result
    }

    private func idToken(_ response: TokenResponse, nonce: String?) throws(PluginError) -> IDToken? {
        guard let text = response.idToken else {
            if nonce == nil { return nil }
            throw PluginError(.internal, "\(authority.environment) gave no id token")
        }
        let token = try IDToken(text)
        try token.check(
            IDToken.Expectation(
                issuer: configuration.issuer, aliases: metadata.aliases, audience: request.clientID, nonce: nonce),
            sent: response.sent)
        return token
    }

    /// `uid.utid` of `client_info`; of an authority that gives none the id token's subject, as MSAL Python and Go have it.
    private func homeAccountID(
        _ response: TokenResponse, token: IDToken?, account: String?
    ) throws(PluginError) -> String {
        var told: String?
        if let text = response.clientInfo {
            do throws(ClientInfoError) {
                told = try ClientInfo(text).homeAccountID
            } catch {
                throw PluginError(.internal, "\(authority.environment) gave a client_info that cannot be read")
            }
        }
        if let told, let account, told.lowercased() != account.lowercased() {
            throw PluginError(
                .internal, "\(authority.environment) answered for another account than was asked for",
                hint: "sign in again")
        }
        guard let id = (told ?? account ?? token?.subject)?.plain(limit: 512) else {
            throw PluginError(.internal, "\(authority.environment) does not say who signed in")
        }
        return id
    }

    /// The tenant the tokens are for: of the id token, else of the token endpoint, else the account's home for an
    /// audience, else as asked.
    private func realm(token: IDToken?, home: String) -> String {
        if let tenant = token?.tenantID, WebAddress.isName(tenant) { return tenant.lowercased() }
        if authority.kind == .b2c { return authority.tenant }
        let endpoint = try? WebAddress(configuration.tokenEndpoint)
        if let tenant = endpoint?.segments.first, UUID(uuidString: tenant) != nil { return tenant.lowercased() }
        guard authority.audience != .identifier, let tenant = home.pieces(between: ".").last else {
            return authority.tenant
        }
        return UUID(uuidString: String(tenant)) == nil ? authority.tenant : String(tenant)
    }
}
