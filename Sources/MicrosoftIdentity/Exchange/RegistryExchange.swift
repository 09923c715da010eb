import Addresses
import OAuth
import PluginOAuth
import PluginWire
import Secrets

/// Turns a token into what docker and the like present at an Azure Container Registry: a refresh token of the registry's own.
///
/// A registry takes tokens of its own tenant only; guests bring one that this tenant issued to them.
struct RegistryExchange: Sendable {
    /// What manifests call it.
    static let name = "acr"

    /// The user name that says that the password is such a token.
    private static let username = "00000000-0000-0000-0000-000000000000"
    /// Seconds that a token is taken to live if it can't be read; registries give three hours.
    private static let assumedLifetime = 3600

    private let registry: String
    private let token: Secret
    private let transport: Transport

    init(_ request: PluginRequest, over transport: Transport) throws(PluginError) {
        guard let registry = request.audience, let token = request.accessToken else {
            throw PluginError(.invalidRequest, "the request contains no token to exchange")
        }
        (self.registry, self.token, self.transport) = (registry, token, transport)
    }

    func credential() async throws(PluginError) -> PluginCredential {
        var form: [FormEncoding.Field] = [("grant_type", "access_token"), ("service", registry)]
        if let tenant = token.unverifiedClaims(Claims.self)?.tid { form.append(("tenant", tenant)) }
        form.append(("access_token", token.reveal()))
        let answer: HTTPAnswer
        do throws(OAuthError) {
            answer = try await transport.post("https://\(registry)/oauth2/exchange", form, .harmless)
        } catch {
            throw error.plain
        }
        guard answer.status == 200 else { throw refusal(answer) }
        guard let result = answer.json(Answer.self)?.refreshToken, WireForm.secret.accepts(result) else {
            throw PluginError(.internal, "\(registry) returned no usable token")
        }
        let secret = Secret(result)
        return PluginCredential(
            username: Secret(Self.username), secret: secret, expiresIn: lifetime(of: secret, answer))
    }

    /// Seconds until the token ends, by the registry's clock if it tells.
    private func lifetime(of token: Secret, _ answer: HTTPAnswer) -> Int {
        token.unverifiedClaims(Claims.self)?.exp.map(answer.lifetime(until:)) ?? Self.assumedLifetime
    }

    private func refusal(_ answer: HTTPAnswer) -> PluginError {
        switch answer.status {
        case 401, 403:
            // Taken for the token's fault once, and then for the person's: nothing tells them apart.
            var error = PluginError(
                .interactionRequired, "\(registry) refuses the token: \(words(answer))",
                hint:
                    "the account needs a role there, such as AcrPull, and the rule's authority must be the registry's "
                    + "tenant")
            error.error = answer.json(Refusal.self)?.errors?.first?.code?.plain(limit: 100)
            return error
        case 404, 405:
            return PluginError(
                .invalidRequest, "\(registry) exchanges no tokens",
                hint: "is it an Azure Container Registry?")
        default:
            return PluginError(
                .invalidRequest, "\(registry) refuses the exchange (HTTP \(answer.status)): \(words(answer))")
        }
    }

    /// The registry's own words.
    private func words(_ answer: HTTPAnswer) -> String {
        let first = answer.json(Refusal.self)?.errors?.first
        return (first?.message ?? first?.code ?? "HTTP \(answer.status)").displayable(limit: 300)
    }

    private struct Claims: Decodable {
        var tid: String?
        var exp: Double?
    }

    private struct Answer: Decodable {
        var refreshToken: String?

        enum CodingKeys: String, CodingKey {
            case refreshToken = "refresh_token"
        }
    }

    /// What the Distribution API refuses with.
    private struct Refusal: Decodable {
        struct Reason: Decodable {
            var code: String?
            var message: String?
        }

        var errors: [Reason]?
    }
}
