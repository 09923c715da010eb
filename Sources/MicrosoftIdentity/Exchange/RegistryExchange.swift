import Addresses
import HTTP
import JSON
import OAuth
import PluginOAuth
import PluginWire
import Secrets

/// Exchanges an access token for a refresh token of an Azure Container Registry, which docker and other tools send as
/// the password.
///
/// A registry accepts tokens of its own tenant only; guests need a token that this tenant issued to them.
struct RegistryExchange: Sendable {
    /// The exchange's name in manifests.
    static let name = "acr"

    /// The user name that marks the password as such a token.
    private static let username = "00000000-0000-0000-0000-000000000000"
    /// The lifetime in seconds if the token can't be parsed; registries issue tokens for three hours.
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
        if let tenant = token.unverifiedClaims?["tid"]?.string { form.append(("tenant", tenant)) }
        form.append(("access_token", token.reveal()))
        let answer = try await transport.exchange("https://\(registry)/oauth2/exchange", form)
        guard answer.status == 200 else { throw refusal(answer) }
        guard let result = answer.json?["refresh_token"]?.string, WireForm.secret.accepts(result) else {
            throw PluginError(.internal, "\(registry) returned no usable token")
        }
        let secret = Secret(result)
        return PluginCredential(
            username: Secret(Self.username), secret: secret, expiresIn: lifetime(of: secret, answer))
    }

    /// Returns the seconds until the token expires, by the registry's clock if the answer has a date.
    private func lifetime(of token: Secret, _ answer: HTTPAnswer) -> Int {
        token.unverifiedClaims?["exp"]?.boundedNumber.map { answer.lifetime(until: Double($0)) } ?? Self.assumedLifetime
    }

    private func refusal(_ answer: HTTPAnswer) -> PluginError {
        // The first reason in an error response of the Distribution API.
        let reason = answer.json?["errors"]?.elements.first
        let words = (reason?["message"]?.string ?? reason?["code"]?.string ?? "HTTP \(answer.status)")
            .displayable(limit: 300)
        switch answer.status {
        case 401, 403:
            // The cause may be the token or the user's permissions. Nothing tells them apart, so the token is blamed
            // first, and then the permissions.
            var error = PluginError(
                .interactionRequired, "\(registry) refuses the token: \(words)",
                hint:
                    "the account needs a role there, such as AcrPull, and the rule's authority must be the registry's "
                    + "tenant")
            error.error = reason?["code"]?.string?.plain(limit: 100)
            return error
        case 404, 405:
            return PluginError(
                .invalidRequest, "\(registry) exchanges no tokens",
                hint: "is it an Azure Container Registry?")
        default:
            return PluginError(
                .invalidRequest, "\(registry) refuses the exchange (HTTP \(answer.status)): \(words)")
        }
    }
}
