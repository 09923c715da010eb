import Addresses
import Claims
import FoundationEssentials
import PluginWire
import Secrets

/// An authority whose host is trusted and whose endpoints are known, for one request.
struct AuthoritySession: Sendable {
    let request: PluginRequest
    let profile: AuthorityProfile
    let authority: Authority
    let metadata: InstanceMetadata
    let configuration: OpenIDConfiguration
    let transport: Transport
    /// The claims parameter, capabilities included.
    let claims: String?

    /// Finds out what must be known before anything is asked of the person.
    ///
    /// - Parameters:
    ///   - request: the host's request.
    ///   - profile: the plugin's.
    ///   - transport: the way to the authority.
    ///   - home: whether an audience is replaced by the account's home tenant.
    /// - Returns: a session whose endpoints may be sent codes and tokens.
    /// - Throws: as `OpenIDConfiguration.fetch` and `InstanceDiscovery.resolve`; `invalid-request` for the rest.
    static func open(
        _ request: PluginRequest, profile: AuthorityProfile, over transport: Transport, home: Bool = false
    ) async throws(PluginError) -> AuthoritySession {
        let asked = try authority(request, profile: profile)
        guard !request.clientID.isEmpty else {
            throw PluginError(
                .invalidRequest, "there is no client id for \(asked.url)",
                hint: "register a public client application and put its id into the rule as client-id")
        }
        let claims: String?
        do throws(ClaimsError) {
            let wanted = try request.claims.map { text throws(ClaimsError) in try ClaimsRequest(text).encoded }
            // B2C's policies know nothing of capabilities.
            claims = try Claims.merge([wanted], capabilities: asked.kind == .b2c ? [] : request.capabilities)
        } catch {
            throw error.pluginError
        }
        let metadata = try await InstanceDiscovery.resolve(asked, knownHosts: request.knownHosts, over: transport)
        let isPreferred = metadata.preferredNetwork == asked.environment || metadata.preferredNetwork.hasBytes(":")
        let there = isPreferred ? asked : asked.replacingHost(metadata.preferredNetwork)
        let authority = home ? homeTenant(of: there, account: request.account) : there
        let configuration = try await OpenIDConfiguration.fetch(of: authority, in: metadata, over: transport)
        return AuthoritySession(
            request: request, profile: profile, authority: authority, metadata: metadata,
            configuration: configuration, transport: transport, claims: claims)
    }

    private static func authority(
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

    /// Refresh tokens are redeemed at the account's home tenant, as MSAL does: always for common and consumers, for
    /// organizations unless the account is personal.
    private static func homeTenant(of authority: Authority, account: String?) -> Authority {
        guard authority.kind == .aad, authority.audience != .identifier,
            let tenant = account?.pieces(between: ".").last.map({ $0.lowercased() }), UUID(uuidString: tenant) != nil,
            authority.audience != .organizations || tenant != ClientInfo.personalTenant
        else { return authority }
        return (try? authority.replacingTenant(tenant)) ?? authority
    }

    /// Sends a grant to the token endpoint and reads the answer.
    ///
    /// - Parameters:
    ///   - grant: the grant's own fields.
    ///   - stage: how a refusal is to be read.
    ///   - anchor: routes the request to the account's data centre.
    /// - Returns: the tokens, not yet checked.
    /// - Throws: the refusal, or `unavailable`.
    func redeem(
        _ grant: [FormEncoding.Field], stage: OAuthFailure.Stage, anchor: String?
    ) async throws(PluginError) -> TokenResponse {
        var fields = grant
        fields += [
            ("client_id", request.clientID), ("scope", Scopes.requested(request.scopes)), ("client_info", "1"),
        ]
        if let claims { fields.append(("claims", claims)) }
        // A refresh token is good more than once at Microsoft's. Elsewhere the next renewal would send the same one all the
        // same, and later, when the authority may forgive it less.
        let answer = try await transport.post(
            configuration.tokenEndpoint, fields, headers: anchor.map { [(Anchor.name, $0)] } ?? [],
            stage == .refresh ? .harmless : .unlessActedOn)
        return try read(answer, stage: stage)
    }

    /// Reads an answer of the token endpoint.
    func read(_ answer: HTTPAnswer, stage: OAuthFailure.Stage) throws(PluginError) -> TokenResponse {
        try TokenResponse(answer, from: authority.environment, stage: stage) { profile.explains($0, authority) }
    }

    /// A refusal in the plugin protocol's terms.
    func explain(_ failure: OAuthFailure, _ stage: OAuthFailure.Stage) -> PluginError {
        profile.explains(failure, authority) ?? failure.pluginError(stage)
    }
}

extension ClaimsError {
    /// The same for a person.
    var pluginError: PluginError {
        switch self {
        case .tooLong:
            PluginError(.invalidRequest, "claims is too long", hint: "ask for fewer claims")
        case .notAnObject:
            PluginError(.invalidRequest, "claims is not a JSON object", hint: "decode it first if it is still base64")
        case .unknownTarget(let name):
            PluginError(
                .invalidRequest, "claims asks \(name.displayable(limit: 40)), which can't be asked",
                hint: "ask id_token or access_token")
        case .malformedTarget(let name), .malformedClaim(let name), .malformedShortForm(let name):
            PluginError(
                .invalidRequest, "claims has a wrong \(name.displayable(limit: 40))",
                hint: "a claim is null, or says essential, value or values")
        }
    }
}

extension AuthorityError {
    /// The same for a person.
    func pluginError(_ url: String) -> PluginError {
        let shown = url.displayable(limit: 200)
        return switch self {
        case .missing: PluginError(.invalidRequest, "the request names no authority")
        case .notHTTPS: PluginError(.invalidRequest, "the authority \(shown) is not https")
        case .malformed: PluginError(.invalidRequest, "the authority \(shown) is not a plain https URL")
        case .noTenant:
            PluginError(
                .invalidRequest, "the authority \(shown) names no tenant",
                hint: "append the tenant's id or domain, or /organizations")
        case .shortB2C:
            PluginError(
                .invalidRequest, "the authority \(shown) names no policy",
                hint: "write it as https://HOST/tfp/TENANT/POLICY")
        case .wrongKind(_, let found):
            PluginError(.invalidRequest, "the authority \(shown) is of another kind (\(found.rawValue))")
        }
    }
}
