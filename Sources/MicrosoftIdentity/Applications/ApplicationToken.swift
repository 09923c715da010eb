import Addresses
import FoundationEssentials
import OAuth
import PluginOAuth
import PluginWire
import Secrets

/// A token that an application gets by itself (RFC 6749, 4.4).
struct ApplicationToken: Sendable {
    /// What shows that the application is itself.
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

    /// Entra: the assertion is outside its time.
    private static let assertionOutsideItsTime = "AADSTS700024"
    /// Entra: no federated credential of the application's matches the assertion.
    private static let unmatched: Set = [
        "AADSTS70021", "AADSTS700211", "AADSTS700212", "AADSTS700213", "AADSTS7002138",
    ]

    /// Checks a request before anything is asked.
    ///
    /// - Throws: `invalid-request` if the authority is no one tenant, the scopes are of several resources, or the certificate can't be
    ///   used; as `AssertionSource.init`.
    init(
        _ request: PluginRequest, _ identity: PluginIdentity, profile: AuthorityProfile, over transport: Transport
    ) throws(PluginError) {
        (self.request, self.profile, self.transport) = (request, profile, transport)
        proof = try Self.proof(of: request, identity)
        scope = try Self.scope(of: request)
        try Self.checkTenant(of: AuthoritySession.authority(request, profile: profile))
    }

    /// Libraries of Microsoft's only warn of audiences, whose tokens would be of the application's home tenant.
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

    /// Gets the token; once more with a new assertion if the first was outside its time.
    func result() async throws(PluginError) -> PluginResult {
        // First, so that no authority is asked for nothing.
        let assertion = try await fetchedAssertion()
        let session = try await AuthoritySession.open(request, profile: profile, over: transport, recalling: true)
        do throws(PluginError) {
            return try await result(session, assertion)
        } catch {
            guard assertion != nil, error.errorCodes.contains(Self.assertionOutsideItsTime) else { throw error }
            return try await result(session, fetchedAssertion())
        }
    }

    /// Somebody's assertion, read or fetched anew; nil if the application proves itself.
    private func fetchedAssertion() async throws(PluginError) -> Secret? {
        guard case .assertion(let source) = proof else { return nil }
        return try await source.assertion(over: transport)
    }

    private func result(_ session: AuthoritySession, _ assertion: Secret?) async throws(PluginError) -> PluginResult {
        var client = session.client
        client.scope = scope
        client.parameters = []
        client.authentication = try authentication(for: client.endpoints.token, assertion)
        let tokens: EntraTokens
        do throws(OAuthError) {
            tokens = try EntraTokens(await client.redeem(.clientCredentials), from: session.authority.environment)
        } catch {
            if session.isRecalled, error.hasMoved { return try await result(session.anew(), assertion) }
            throw explained(session.pluginError(error), assertion)
        }
        let token = tokens.response.accessToken
        var result = PluginResult(
            accessToken: token, expiresIn: tokens.expiresIn, scopes: Set(request.scopes + [scope]).sorted(),
            environment: session.metadata.preferredCache,
            realm: (token.unverifiedClaims(Claims.self)?.tid ?? session.authority.tenant).lowercased(), account: nil)
        result.memo = session.memo.memo
        result.extendedExpiresIn = tokens.extendedExpiresIn
        result.refreshIn = tokens.refreshIn ?? (tokens.expiresIn >= Self.longLife ? tokens.expiresIn / 2 : nil)
        return result
    }

    /// Seconds from which on a token is renewed at half its life, as MSAL does it.
    private static let longLife = 7_200

    private struct Claims: Decodable { var tid: String? }

    /// Names what the application's federated credential has to name; nothing else of an assertion is shown.
    private func explained(_ error: PluginError, _ assertion: Secret?) -> PluginError {
        guard !Self.unmatched.isDisjoint(with: error.errorCodes),
            let names = assertion?.unverifiedClaims(AssertionNames.self)
        else { return error }
        var error = error
        error.hint = "give the application a federated credential that names, letter for letter, \(names.text)"
        return error
    }

    private static func proof(of request: PluginRequest, _ identity: PluginIdentity) throws(PluginError) -> Proof {
        if let secret = request.clientSecret { return .secret(secret) }
        guard let path = identity.certificate else {
            return .assertion(try AssertionSource(identity, authority: request.authority))
        }
        let wish = identity.variable("AZURE_CLIENT_SEND_CERTIFICATE_CHAIN")?.lowercased()
        do throws(OAuthError) {
            let certificate = try ClientCertificate(file: path, password: identity.certificatePassword)
            return .certificate(certificate, sendsChain: wish == "1" || wish == "true")
        } catch {
            throw error.pluginError()
        }
    }

    /// What goes along with one request to a token endpoint.
    private func authentication(
        for endpoint: String, _ assertion: Secret?
    ) throws(PluginError) -> ClientAuthentication {
        switch proof {
        case .secret(let secret): return .post(secret)
        case .assertion: return .assertion(assertion ?? Secret(""))
        case .certificate(let certificate, let sendsChain):
            do throws(OAuthError) {
                return .assertion(
                    try certificate.assertion(of: request.clientID, for: endpoint, sendsChain: sendsChain))
            } catch {
                throw error.pluginError()
            }
        }
    }

    /// The one resource that the scopes are of, as all that the application may do there.
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
    /// The resource that a scope is of: Graph's if it names none, and the whole if it is a URL without a path.
    fileprivate var resource: String {
        guard let (resource, _) = cut(atLast: "/"), !resource.isEmpty else { return "https://graph.microsoft.com" }
        return resource.hasSuffix(":/") ? self : String(resource)
    }
}

extension PluginIdentity {
    /// The value of a variable that came with the request; nil if it is absent or empty.
    func variable(_ name: String) -> String? {
        variables.first { $0.name.isSame(as: name) }.map { $0.value.reveal() }.flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// What Entra compares with an application's federated credentials.
private struct AssertionNames: Decodable {
    private let iss: String?
    private let sub: String?
    private let aud: String?

    private enum CodingKeys: CodingKey { case iss, sub, aud }

    init(from decoder: any Decoder) throws {
        let claims = try decoder.container(keyedBy: CodingKeys.self)
        iss = try? claims.decode(String.self, forKey: .iss)
        sub = try? claims.decode(String.self, forKey: .sub)
        aud =
            (try? claims.decode(String.self, forKey: .aud)) ?? (try? claims.decode([String].self, forKey: .aud))?.first
    }

    /// Short enough for a hint.
    var text: String {
        [("issuer", iss), ("subject", sub), ("audience", aud)]
            .map { "\($0) \(($1 ?? "none").displayable(limit: 250))" }.joined(separator: ", ")
    }
}
