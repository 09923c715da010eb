import Addresses
import HTTP
import JSON
import OAuth
import PluginOAuth
import PluginWire
import Secrets

/// The scopes of a token response.
struct IssuerTokens: Sendable, Equatable {
    /// The granted scopes.
    let scopes: [String]
    /// The requested scopes that weren't granted.
    let declined: [String]

    /// Compares a response with what was requested; one that names no scopes grants them all (RFC 6749, 5.1).
    init(_ response: TokenResponse, asked: [String]) {
        // GitHub and others put commas between scopes, which may also be part of one (RFC 6749, 3.3).
        let granted = ScopeText.split(response.scope ?? "").flatMap { scope in
            asked.contains(scope) ? [scope] : ScopeText.split(scope.replacing(bytes: ",", with: " "))
        }
        let missing = granted.isEmpty ? asked : asked.filter { !granted.contains($0) }
        declined = granted.isEmpty ? [] : missing.filter { !ScopeText.isOpenID($0) }
        scopes = granted + missing.filter { [declined] in !declined.contains($0) }
    }
}

extension IssuerSession {
    /// Validates a token response and converts it to a result of the plugin protocol.
    ///
    /// - Parameters:
    ///   - response: The tokens.
    ///   - nonce: The nonce that the ID token must contain; nil if none was sent.
    /// - Returns: The tokens and their account.
    /// - Throws: `untrusted` if the ID token is invalid, `broken` or `unavailable` if the response is.
    func result(_ response: TokenResponse, nonce: String?) async throws(OAuthError) -> PluginResult {
        let tokens = IssuerTokens(response, asked: request.scopes)
        let owner = try await owner(of: response, try await idToken(response, nonce: nonce))
        var result = PluginResult(
            accessToken: response.accessToken, expiresIn: response.expiresIn, scopes: tokens.scopes,
            environment: address.hostText, realm: realm, account: owner)
        result.declinedScopes = tokens.declined
        result.refreshToken = response.refreshToken
        result.idToken = response.idToken
        if let text = request.claims, JSONValue(bytes: text.utf8)?["userinfo"]?.members != nil {
            // The sign-in counts without them.
            do throws(OAuthError) { result.userInfo = try await userInfo(response, of: owner) } catch {
                result.userInfoError = error.message
            }
        }
        result.memo = memo.memo
        return result
    }

    /// Returns what the UserInfo endpoint says.
    ///
    /// - Throws: the reason why it says nothing of this account.
    private func userInfo(_ response: TokenResponse, of owner: PluginAccount) async throws(OAuthError) -> String {
        guard let endpoint = metadata.endpoints.userinfo else {
            throw OAuthError(.notFound, "\(address.hostText) has no UserInfo endpoint")
        }
        let answer = try await client.answer(of: endpoint, to: response.accessToken)
        guard let claims = JSONValue(bytes: answer.body, atMost: 16_384), let subject = claims["sub"]?.string else {
            throw OAuthError(.untrusted, "the UserInfo of \(address.hostText) is no JSON object about an account")
        }
        guard subject == owner.localAccountID else {
            throw OAuthError(.untrusted, "the UserInfo of \(address.hostText) is about another account")
        }
        return claims.encodedText
    }

    /// The authority's path, the only difference between issuers of one host.
    var realm: String { PluginProtocol.realm(ofPath: address.segments.map(String.init)) }

    /// Whether a refresh token was redeemed.
    ///
    /// If so, it may be invalid by now, and its successor must not be lost because another request fails.
    private var isRenewal: Bool { request.operation == .renew }

    /// Returns the validated ID token; at a sign-in its signature is verified, too, if the issuer publishes keys.
    private func idToken(_ response: TokenResponse, nonce: String?) async throws(OAuthError) -> IDToken? {
        guard let text = response.idToken else {
            // Tokens from a host that nobody named may be another issuer's.
            let isElsewhere = !isRenewal && !issuerPlaces.contain(metadata.endpoints.token)
            if !metadata.provesIssuer || nonce == nil && !isElsewhere { return nil }
            throw OAuthError(.untrusted, "\(address.hostText) returned no ID token")
        }
        let token = try IDToken(text)
        var expectation = IDToken.Expectation(issuer: metadata.issuer, audience: request.clientID, nonce: nonce)
        expectation.isStrict = true
        try token.check(expectation, sent: response.sent)
        if let keys = metadata.keys, token.isSignedForAll, !isRenewal {
            try await IssuerKeys.fetch(keys, of: address.hostText, over: transport).verify(text, token)
        }
        return token
    }

    /// Returns the account: from the ID token or, without one, from the issuer's answer about the access token.
    private func owner(of response: TokenResponse, _ token: IDToken?) async throws(OAuthError) -> PluginAccount {
        if token == nil, isRenewal, let account = request.account {
            return named(PluginAccount(homeAccountID: account.lowercased(), username: ""))
        }
        var profile = token.map { IssuerProfile($0.claims.members ?? [:]) } ?? IssuerProfile()
        let isKnown = token != nil && (profile.username != nil || isRenewal)
        if !isKnown, let endpoint = metadata.endpoints.userinfo ?? traits.profile {
            profile = try await told(by: endpoint, response, instead: token == nil ? nil : profile)
        }
        guard let subject = token?.subject ?? profile.subject(traits.subjectName) else {
            throw OAuthError(
                .untrusted, "\(address.hostText) does not say who signed in",
                hint: "add the scope openid to the application, or the issuer's userinfo endpoint to the rule")
        }
        let id = AccountIdentifier(issuer: metadata.issuer, subject: subject)
        var owner = PluginAccount(
            homeAccountID: id.text,
            username: (profile.username ?? (isRenewal ? "" : subject)).displayable(limit: 256))
        owner.name = profile.name?.displayable(limit: 256)
        owner.localAccountID = subject.plain(limit: 256)
        return named(owner)
    }

    private func named(_ owner: PluginAccount) -> PluginAccount {
        var owner = owner
        owner.homeRealms = [realm]
        owner.kind = traits.accountKind
        return owner
    }

    /// Returns the answer of the userinfo endpoint; the known profile if the answer is empty or about another account.
    private func told(
        by endpoint: String, _ response: TokenResponse, instead known: IssuerProfile?
    ) async throws(OAuthError) -> IssuerProfile {
        do throws(OAuthError) {
            let answer = try await client.answer(of: endpoint, to: response.accessToken)
            guard let told = IssuerProfile(answer, traits) else {
                throw OAuthError(.unavailable, "\(address.hostText) does not say who signed in")
            }
            guard let known else { return told }
            return told.sub == known.sub ? told : known
        } catch {
            guard let known else { throw error }
            return known
        }
    }
}
