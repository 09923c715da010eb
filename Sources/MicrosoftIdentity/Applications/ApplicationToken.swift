import Addresses
import Claims
import JSON
import OAuth
import PluginOAuth
import PluginWire
import Secrets

/// The acquisition of an application's token, with the client credentials grant (RFC 6749, 4.4).
struct ApplicationToken: Sendable {
    /// The application's credential.
    private enum Proof: Sendable {
        case secret(Secret)
        case certificate(ClientCertificate, sendsChain: Bool)
        case assertion(AssertionSource)
    }

    private let request: PluginRequest
    private let profile: AuthorityProfile
    private let transport: Transport
    private let scope: String
    private let proof: Proof

    /// Entra's error for an assertion that has expired or isn't valid yet.
    private static let assertionOutsideItsTime = "AADSTS700024"
    /// Entra's errors for an assertion that matches none of the application's federated credentials.
    private static let unmatched: Set = [
        "AADSTS70021", "AADSTS700211", "AADSTS700212", "AADSTS700213", "AADSTS7002138",
    ]

    /// Validates a request before sending anything.
    ///
    /// - Throws: `invalid-request` if the authority isn't a single tenant, the scopes belong to several resources, or
    ///   the certificate can't be used; also the errors of `AssertionSource.init`.
    init(
        _ request: PluginRequest, _ identity: PluginIdentity, profile: AuthorityProfile, over transport: Transport
    ) throws(PluginError) {
        (self.request, self.profile, self.transport) = (request, profile, transport)
        proof = try Self.proof(of: request, identity)
        scope = try Self.scope(of: request)
        try Self.checkTenant(of: AuthoritySession.authority(request, profile: profile))
    }

    /// Rejects audiences, whose tokens would be for the application's home tenant; Microsoft's libraries only warn
    /// about them.
    private static func checkTenant(of authority: Authority) throws(PluginError) {
        let hint = "put the tenant's id or domain into the identity's authority"
        guard authority.audience == .identifier else {
            throw PluginError(
                .invalidRequest, "an application gets its tokens from one tenant, and \(authority.url) names none",
                hint: hint)
        }
        guard !authority.tenant.utf8.contains(UInt8(ascii: "_")) else {
            throw PluginError(
                .invalidRequest, "\(authority.tenant.displayable(limit: 255)) is neither a tenant's id nor a domain",
                hint: hint)
        }
    }

    /// Gets the token; tries once more with a new assertion if the first had expired or wasn't valid yet.
    func result() async throws(PluginError) -> PluginResult {
        // Get the assertion first, so that no authority is contacted in vain.
        let assertion = try await fetchedAssertion()
        let session = try await AuthoritySession.open(request, profile: profile, over: transport, recalling: true)
        do throws(PluginError) {
            return try await result(session, assertion)
        } catch {
            guard assertion != nil, error.errorCodes.contains(Self.assertionOutsideItsTime) else { throw error }
            return try await result(session, fetchedAssertion())
        }
    }

    /// Reads or fetches the federated assertion; nil if the application has a credential of its own.
    private func fetchedAssertion() async throws(PluginError) -> Secret? {
        guard case .assertion(let source) = proof else { return nil }
        return try await source.assertion(over: transport)
    }

    private func result(_ session: AuthoritySession, _ assertion: Secret?) async throws(PluginError) -> PluginResult {
        var client = session.client
        client.scope = scope
        client.parameters = []
        let tokens: EntraTokens
        do throws(OAuthError) {
            client.authentication = try authentication(for: client.endpoints.token, assertion)
            tokens = EntraTokens(try await client.redeem(.clientCredentials))
        } catch {
            if session.isRecalled, error.hasMoved { return try await result(session.anew(), assertion) }
            throw explained(session.pluginError(error), assertion)
        }
        let token = tokens.response.accessToken
        var result = PluginResult(
            accessToken: token, expiresIn: tokens.expiresIn, scopes: Set(request.scopes + [scope]).sorted(),
            environment: session.metadata.preferredCache,
            realm: (token.unverifiedClaims?["tid"]?.string ?? session.authority.tenant).lowercased(), account: nil)
        result.memo = session.memo.memo
        result.extendedExpiresIn = tokens.extendedExpiresIn
        result.refreshIn = tokens.refreshIn ?? (tokens.expiresIn >= Self.longLife ? tokens.expiresIn / 2 : nil)
        return result
    }

    /// The minimum lifetime, in seconds, of tokens that are renewed after half of it, as in MSAL.
    private static let longLife = 7_200

    /// Adds the values that the application's federated credential must contain to the hint; nothing else of an
    /// assertion is shown.
    private func explained(_ error: PluginError, _ assertion: Secret?) -> PluginError {
        guard !Self.unmatched.isDisjoint(with: error.errorCodes),
            let claims = assertion.flatMap({ WebToken.claims(of: $0.reveal()) }), claims.members != nil
        else { return error }
        let names = [
            ("issuer", claims["iss"]?.string), ("subject", claims["sub"]?.string),
            ("audience", claims["aud"]?.string ?? claims["aud"]?.elements.first?.string),
        ].map { "\($0) \(($1 ?? "none").displayable(limit: 250))" }.joined(separator: ", ")
        var error = error
        error.hint = "give the application a federated credential that names, letter for letter, \(names)"
        return error
    }

    private static func proof(of request: PluginRequest, _ identity: PluginIdentity) throws(PluginError) -> Proof {
        if let secret = request.clientSecret { return .secret(secret) }
        guard let path = identity.certificate else {
            return .assertion(
                try AssertionSource(
                    identity.assertion ?? "", of: identity, audience: audience(of: request.authority)))
        }
        let explicit = identity.variable("AZURE_CLIENT_SEND_CERTIFICATE_CHAIN")?.lowercased()
        do throws(OAuthError) {
            let certificate = try ClientCertificate(file: path, password: identity.certificatePassword)
            return .certificate(certificate, sendsChain: explicit == "1" || explicit == "true")
        } catch {
            throw error.pluginError()
        }
    }

    /// Returns the audience that Entra expects, by its cloud.
    static func audience(of authority: String) -> String {
        let host = StrictURL(https: authority)?.hostText ?? ""
        return switch InstanceMetadata.known(host)?.preferredNetwork {
        case "login.microsoftonline.us": "api://AzureADTokenExchangeUSGov"
        case "login.partner.microsoftonline.cn": "api://AzureADTokenExchangeChina"
        default: "api://AzureADTokenExchange"
        }
    }

    /// Returns the client authentication for one request to a token endpoint.
    private func authentication(
        for endpoint: String, _ assertion: Secret?
    ) throws(OAuthError) -> ClientAuthentication {
        switch proof {
        case .secret(let secret): .post(secret)
        case .assertion: .assertion(assertion ?? Secret(""))
        case .certificate(let certificate, let sendsChain):
            .assertion(try certificate.assertion(of: request.clientID, for: endpoint, sendsChain: sendsChain))
        }
    }

    /// Returns the `.default` scope of the only resource that the scopes belong to.
    private static func scope(of request: PluginRequest) throws(PluginError) -> String {
        let resources = Set(request.scopes.filter { !Scopes.isOpenID($0.lowercased()) }.map(\.resource))
        guard let resource = resources.first, resources.count == 1 else {
            throw PluginError(
                .invalidRequest,
                resources.isEmpty
                    ? "the request names no scope" : "the scopes are of several resources: a token is valid for one",
                hint: "name a scope such as https://graph.microsoft.com/.default")
        }
        return "\(resource)/.default"
    }
}

extension String {
    /// The scope's resource: Graph if the scope names none, and the whole scope if it is a URL without a path.
    fileprivate var resource: String {
        guard let (resource, _) = cut(atLast: "/"), !resource.isEmpty else { return "https://graph.microsoft.com" }
        return resource.hasSuffix(":/") ? self : String(resource)
    }
}
