import Addresses
import Claims
import OAuth
import PluginOAuth
import PluginWire
import Secrets

/// The state of one request: an authority with a trusted host and known endpoints.
struct AuthoritySession: Sendable {
    let request: PluginRequest
    let profile: AuthorityProfile
    let authority: Authority
    let metadata: InstanceMetadata
    let configuration: OpenIDConfiguration
    let transport: Transport
    /// The `claims` parameter, including client capabilities.
    let claims: String?
    /// The metadata of the authority and other services; from this request if `isRecalled` is false.
    var memo = MetadataMemo(nil)
    /// Whether the authority wasn't asked because its metadata is cached.
    var isRecalled = false
    /// The page to show in the browser after a successful sign-in.
    var success = LoopbackPage.success

    /// Gathers everything that must be known before involving the user.
    ///
    /// - Parameters:
    ///   - request: The host's request.
    ///   - profile: The plugin's profile.
    ///   - transport: The transport to the authority.
    ///   - home: Whether to replace an audience with the account's home tenant.
    ///   - recalling: Whether cached metadata is acceptable.
    /// - Returns: A session whose endpoints are safe to send codes and tokens to.
    /// - Throws: the errors of `OpenIDConfiguration.fetch` and `InstanceDiscovery.resolve`; `invalid-request` for
    ///   everything else.
    static func open(
        _ request: PluginRequest, profile: AuthorityProfile, over transport: Transport, home: Bool = false,
        recalling: Bool = false
    ) async throws(PluginError) -> AuthoritySession {
        let asked = try authority(request, profile: profile)
        guard !request.clientID.isEmpty else {
            throw PluginError(
                .invalidRequest, "there is no client ID for \(asked.url)",
                hint: "register a public client application and put its id into the rule as client-id")
        }
        let claims: String?
        do throws(ParameterError) {
            let wanted = try request.claims.map { text throws(ParameterError) in
                try ClaimsRequest(text, targets: ClaimsRequest.entraTargets).encoded
            }
            // Continuous access evaluation; B2C's policies don't support it.
            let handlesChallenges = request.capabilities.contains(.claimsChallenge) && asked.kind != .b2c
            claims = try ClaimsRequest.parameter([wanted], capabilities: handlesChallenges ? ["CP1"] : [])
        } catch {
            throw error.pluginError
        }
        do throws(OAuthError) {
            let metadata = try await InstanceDiscovery.resolve(asked, knownHosts: request.knownHosts, over: transport)
            let isPreferred = metadata.preferredNetwork == asked.environment || metadata.preferredNetwork.hasBytes(":")
            let there = isPreferred ? asked : asked.replacingHost(metadata.preferredNetwork)
            let authority = home ? homeTenant(of: there, account: request.account) : there
            var memo = MetadataMemo(request.memo)
            let known = recalling ? memo.said(by: authority.url)?.metadata : nil
            // Cached metadata is validated again, so that the cache can't introduce a foreign endpoint.
            let recalled = known.flatMap { try? OpenIDConfiguration($0, of: authority, in: metadata) }
            let configuration: OpenIDConfiguration
            if let recalled {
                configuration = recalled
            } else {
                configuration = try await OpenIDConfiguration.fetch(of: authority, in: metadata, over: transport)
                memo.keep(configuration.said, by: authority.url)
            }
            return AuthoritySession(
                request: request, profile: profile, authority: authority, metadata: metadata,
                configuration: configuration, transport: transport, claims: claims,
                memo: memo, isRecalled: recalled != nil)
        } catch {
            throw error.pluginError()
        }
    }

    /// Returns the request's authority if the profile serves it.
    static func authority(
        _ request: PluginRequest, profile: AuthorityProfile
    ) throws(PluginError) -> Authority {
        let authority: Authority
        do throws(AuthorityError) {
            authority = try Authority(request.authority, as: profile.kind)
        } catch {
            throw error.pluginError(request.authority)
        }
        if let error = profile.refuses(authority) { throw error }
        return authority
    }

    /// Returns the authority at the account's home tenant, where MSAL redeems refresh tokens, too: always for common
    /// and consumers, for organizations unless the account is personal.
    private static func homeTenant(of authority: Authority, account: String?) -> Authority {
        guard authority.kind == .aad, authority.audience != .identifier,
            let tenant = account?.pieces(between: ".").last.map({ $0.lowercased() }), tenant.isUUID,
            authority.audience != .organizations || tenant != ClientInfo.personalTenant
        else { return authority }
        return (try? authority.replacingTenant(tenant)) ?? authority
    }

    /// The OAuth client of the request.
    var client: OAuthClient {
        var client = OAuthClient(
            request.clientID, at: authority.environment, endpoints: configuration.endpoints,
            scope: Scopes.requested(request.scopes), redirectURI: request.redirectURI ?? Self.usualRedirect,
            transport: transport)
        client.furtherScopes = request.signIn.alsoConsent ?? ""
        client.parameters = [("client_info", "1")]
        if let claims { client.grantParameters = [("claims", claims)] }
        client.hosts = hosts
        client.repeatsScope = true
        client.postsAnswers = true
        client.waitsBeforePolling = false
        // Microsoft's refresh tokens can be redeemed more than once. Not repeating here wouldn't help: the next renewal
        // would send the same token anyway, but later, when the authority may be less tolerant.
        client.repeatsRenewals = true
        client.deviceCodeNames = ["device_code", "code"]
        return client
    }

    /// The hosts of its pages for device codes; nil for Microsoft's own authorities, whose page is elsewhere
    /// (microsoft.com/devicelogin).
    private var hosts: IssuerHosts? {
        guard InstanceMetadata.known(authority.environment) == nil,
            InstanceDiscovery.isNamed(authority, by: request.knownHosts)
        else { return nil }
        return IssuerHosts(of: [authority.url], named: request.issuerHosts)
    }

    /// The redirect URI that Entra matches regardless of the port.
    private static let usualRedirect = "http://localhost"

    /// The header that routes to the account's data centre.
    var renewalHeaders: [(String, String)] {
        AnchorMailbox.header(account: request.account).map { [(AnchorMailbox.name, $0)] } ?? []
    }

    /// Returns the session with fresh metadata.
    func anew() async throws(PluginError) -> AuthoritySession {
        try await Self.open(request, profile: profile, over: transport, home: request.operation == .renew)
    }

    /// Converts an error to one of the plugin protocol.
    func pluginError(_ error: OAuthError) -> PluginError {
        error.pluginError { profile.explains($0, authority) }
    }

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

extension ClaimsRequest {
    /// The targets that Entra knows.
    package static let entraTargets: Set<String> = ["id_token", "access_token"]
}

extension ParameterError {
    /// The error for the user.
    var pluginError: PluginError {
        let (fault, hint) =
            switch self {
            case .tooLong: ("is too long", "ask for fewer claims")
            case .notAnObject: ("is not a JSON object", "decode it first if it is still base64")
            case .unknownTarget(let name):
                ("asks \(name.displayable(limit: 40)), which Entra does not know", "use id_token or access_token")
            case .malformedTarget(let name), .malformedClaim(let name), .malformedShortForm(let name):
                ("has an invalid \(name.displayable(limit: 40))", "a claim is null, or says essential, value or values")
            case .invalid(let reason, let hint): (reason, hint)
            }
        return PluginError(.invalidRequest, "claims \(fault)", hint: hint)
    }
}

extension AuthorityError {
    /// Returns the error for the user.
    func pluginError(_ url: String) -> PluginError {
        let authority = "the authority \(url.displayable(limit: 200))"
        let (message, hint): (String, String?) =
            switch self {
            case .missing: ("the request names no authority", nil)
            case .notHTTPS: ("\(authority) is not https", nil)
            case .malformed: ("\(authority) is not a plain https URL", nil)
            case .noTenant: ("\(authority) names no tenant", "append the tenant's id or domain, or /organizations")
            case .shortB2C: ("\(authority) names no policy", "write it as https://HOST/tfp/TENANT/POLICY")
            case .wrongKind(_, let found): ("\(authority) is of another kind (\(found.rawValue))", nil)
            }
        return PluginError(.invalidRequest, message, hint: hint)
    }
}

extension AuthoritySession: OAuthSession {
    /// Returns hints, claims and other additional parameters.
    ///
    /// - Throws: `invalidRequest` for a parameter that only the plugin sets, and as `PluginRequest.signInFields`.
    func authorizationParameters() throws(OAuthError) -> [FormEncoding.Field] {
        do throws(ParameterError) { try request.signIn.requireUnreserved() } catch {
            throw OAuthError(.invalidRequest, error.reason, hint: error.hint)
        }
        return try request.signInFields(at: authority.environment, claims.map { [("claims", $0)] } ?? []) {
            [("login_hint", $0), ("X-AnchorMailbox", "UPN:\($0)")]
        }
    }

    /// Returns the header that routes to the account's data centre.
    func headers(redeeming response: AuthorizationResponse) -> [(String, String)] {
        AnchorMailbox.header(response: response).map { [(AnchorMailbox.name, $0)] } ?? []
    }

    /// Returns the validated tokens as a result of the plugin protocol.
    func accept(_ response: TokenResponse, nonce: String?) throws(OAuthError) -> PluginResult {
        try result(response, nonce: nonce)
    }

    /// Returns the validated tokens if they are the account's.
    func renewed(_ tokens: TokenResponse) throws(OAuthError) -> PluginResult {
        try result(tokens, nonce: nil, account: request.account)
    }

    /// Whether a browser may succeed: policies that inspect the device can't be satisfied with a device code.
    func shouldTryNextFlow(after error: OAuthError) -> Bool {
        !Self.needsBrowser.isDisjoint(with: pluginError(error).errorCodes)
    }

    /// Whether a sign-in in the browser may work: a policy may forbid device codes, or the client must authenticate.
    func mayKnowClient(after error: OAuthError) -> Bool {
        let error = pluginError(error)
        return [.interactionRequired, .cancelled, .unsupported].contains(error.code) || error.error == "invalid_client"
    }

    /// Errors of policies that inspect the device or forbid device codes.
    static let needsBrowser: Set = [
        "AADSTS53000", "AADSTS53001", "AADSTS53003", "AADSTS530032", "AADSTS50097",
    ]
}
