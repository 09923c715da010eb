package import Secrets

/// A grant to redeem at the token endpoint (RFC 6749, 4.1.3 and 6; RFC 8628, 3.4).
package enum TokenGrant: Sendable {
    /// An authorization code with its redirect URI and code verifier.
    case code(Secret, redirectURI: String, verifier: String)
    case refreshToken(Secret)
    /// The client's own credentials (RFC 6749, 4.4).
    case clientCredentials
    /// A device code, whose user code may not have been entered yet.
    case deviceCode(Secret)

    /// Returns the fields of the token request.
    package func fields(for client: OAuthClient) -> [FormEncoding.Field] {
        switch self {
        case .code(let code, let redirectURI, let verifier):
            [
                ("grant_type", "authorization_code"), ("code", code.reveal()), ("redirect_uri", redirectURI),
                ("code_verifier", verifier),
            ] + client.identity + client.parameters + client.grantParameters
        case .refreshToken(let token):
            [("grant_type", "refresh_token"), ("refresh_token", token.reveal())]
                + client.identity + client.parameters + client.grantParameters + client.renewalParameters
        case .clientCredentials:
            [("grant_type", "client_credentials")] + client.credentials + client.scopeField + client.parameters
                + client.grantParameters
        case .deviceCode(let code):
            client.credentials + [("grant_type", "urn:ietf:params:oauth:grant-type:device_code")]
                + client.parameters + client.deviceCodeNames.map { ($0, code.reveal()) }
        }
    }

    /// The stage of a refusal of this grant.
    var stage: OAuthError.Stage {
        switch self {
        case .code: .redemption
        case .refreshToken: .refresh
        case .clientCredentials: .authentication
        case .deviceCode: .device
        }
    }

    func repetition(by client: OAuthClient) -> Transport.Repetition {
        switch self {
        case .code: .unlessActedOn
        case .refreshToken: client.repeatsRenewals ? .harmless : .unlessActedOn
        case .clientCredentials: .harmless
        case .deviceCode: .never
        }
    }
}

extension OAuthClient {
    /// Redeems a grant at the token endpoint.
    ///
    /// - Parameters:
    ///   - grant: The grant.
    ///   - headers: Additional headers.
    /// - Returns: The tokens, unvalidated.
    /// - Throws: the authority's refusal, or the reason why there is no answer.
    package func redeem(
        _ grant: TokenGrant, headers: [(String, String)] = []
    ) async throws(OAuthError) -> TokenResponse {
        let answer = try await transport.post(
            endpoints.token, grant.fields(for: self), headers: proof + headers, grant.repetition(by: self))
        return try TokenResponse(answer, from: authority, stage: grant.stage)
    }
}
