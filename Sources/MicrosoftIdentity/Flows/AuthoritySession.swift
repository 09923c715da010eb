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
        do throws(ClaimsError) {
            let wanted = try request.claims.map { text throws(ClaimsError) in
                try ClaimsRequest(text, targets: ClaimsRequest.entraTargets).encoded
            }
            // Continuous access evaluation; B2C's policies don't support it.
            let isHeeded = request.capabilities.contains(.claimsChallenge) && asked.kind != .b2c
            claims = try ClaimsParameter.merge([wanted], capabilities: isHeeded ? ["CP1"] : [])
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
                memo.note(configuration.said, by: authority.url)
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
}

extension ClaimsRequest {
    /// The targets that Entra knows.
    package static let entraTargets: Set<String> = ["id_token", "access_token"]
}

extension ClaimsError {
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
