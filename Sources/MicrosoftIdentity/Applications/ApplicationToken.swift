import Addresses
import FoundationEssentials
import OAuth
import PluginOAuth
import PluginWire
import Secrets

/// A token that an application gets by itself (RFC 6749, 4.4).
struct ApplicationToken: Sendable {
    private let request: PluginRequest
    private let identity: PluginIdentity
    private let profile: AuthorityProfile
    private let transport: Transport
    private let scope: String

    /// Entra: the assertion is outside its time.
    private static let assertionOutsideItsTime = "AADSTS700024"

    /// Checks a request before anything is asked.
    ///
    /// - Throws: `invalid-request` if the authority is no one tenant, or the scopes are of several resources.
    init(
        _ request: PluginRequest, _ identity: PluginIdentity, profile: AuthorityProfile, over transport: Transport
    ) throws(PluginError) {
        (self.request, self.identity, self.profile, self.transport) = (request, identity, profile, transport)
        scope = try Self.scope(of: request)
    }

    /// Gets the token; once more with a new proof if the first came too late.
    func result() async throws(PluginError) -> PluginResult {
        let session = try await AuthoritySession.open(request, profile: profile, over: transport)
        guard session.authority.audience == .identifier else {
            throw PluginError(
                .invalidRequest, "an application gets its tokens from one tenant, and \(session.authority.url) names none",
                hint: "put the tenant's id or domain into the identity's authority")
        }
        do throws(PluginError) {
            return try await result(session)
        } catch {
            guard error.errorCodes.contains(Self.assertionOutsideItsTime), identity.assertion != nil else { throw error }
            return try await result(session)
        }
    }

    private func result(_ session: AuthoritySession) async throws(PluginError) -> PluginResult {
        var client = session.client
        client.scope = scope
        client.parameters = []
        client.authentication = try await proof(for: client.endpoints.token)
        let tokens: EntraTokens
        do throws(OAuthError) {
            tokens = try EntraTokens(await client.redeem(.clientCredentials), from: session.authority.environment)
        } catch {
            throw session.pluginError(error)
        }
        let token = tokens.response.accessToken
        var result = PluginResult(
            accessToken: token, expiresIn: tokens.expiresIn, scopes: Set(request.scopes + [scope]).sorted(),
            environment: session.metadata.preferredCache,
            realm: (token.unverifiedClaims(Claims.self)?.tid ?? session.authority.tenant).lowercased(), account: nil)
        result.extendedExpiresIn = tokens.extendedExpiresIn
        result.refreshIn = tokens.refreshIn ?? (tokens.expiresIn >= Self.longLife ? tokens.expiresIn / 2 : nil)
        return result
    }

    /// Seconds from which on a token is renewed at half its life, as MSAL does it.
    private static let longLife = 7_200

    private struct Claims: Decodable { var tid: String? }

    /// What shows that the application is itself; an assertion is made or fetched anew for each request.
    private func proof(for endpoint: String) async throws(PluginError) -> ClientAuthentication {
        if let secret = request.clientSecret { return .post(secret) }
        if let path = identity.certificate {
            let wish = identity.variable("AZURE_CLIENT_SEND_CERTIFICATE_CHAIN")?.lowercased()
            do throws(OAuthError) {
                let certificate = try ClientCertificate(file: path, password: identity.certificatePassword)
                return .assertion(
                    try await certificate.assertion(
                        of: request.clientID, for: endpoint, sendsChain: ["1", "true"].contains(wish)))
            } catch {
                throw error.pluginError()
            }
        }
        let source = try AssertionSource(identity, authority: request.authority)
        return .assertion(try await source.assertion(over: transport))
    }

    /// The one resource that the scopes are of, as all that the application may do there.
    private static func scope(of request: PluginRequest) throws(PluginError) -> String {
        let resources = Set(request.scopes.filter { !$0.isOpenIDConnects }.map(\.resource))
        guard let resource = resources.first, resources.count == 1 else {
            throw PluginError(
                .invalidRequest,
                resources.isEmpty
                    ? "the request names no scope" : "the scopes are of several resources: a token is good for one",
                hint: "name a scope such as https://graph.microsoft.com/.default")
        }
        return "\(resource)/.default"
    }
}

extension String {
    /// The resource that a scope is of: Graph's if it names none.
    fileprivate var resource: String {
        cut(atLast: "/").map { String($0.0) }.flatMap { $0.isEmpty ? nil : $0 } ?? "https://graph.microsoft.com"
    }

    fileprivate var isOpenIDConnects: Bool { ["openid", "profile", "email", "offline_access"].contains(lowercased()) }
}

extension PluginIdentity {
    /// The value of a variable that came with the request; nil if it is absent or empty.
    func variable(_ name: String) -> String? {
        variables.first { $0.name.isSame(as: name) }.map { $0.value.reveal() }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
