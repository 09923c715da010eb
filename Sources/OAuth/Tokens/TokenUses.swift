package import HTTP
package import Secrets

extension OAuthClient {
    /// Revokes a refresh token and the tokens obtained with it (RFC 7009).
    ///
    /// A token that the authority doesn't know counts as revoked.
    ///
    /// - Throws: the authority's refusal, or the reason why it can't be reached.
    package func revoke(_ refreshToken: Secret, at endpoint: String) async throws(OAuthError) {
        let fields: [FormEncoding.Field] = [
            ("token", refreshToken.reveal()), ("token_type_hint", "refresh_token"),
        ]
        let answer = try await transport.post(endpoint, fields + credentials, headers: proof, .harmless)
        guard answer.status != 200 else { return }
        if let refusal = ErrorResponse(answer) { throw OAuthError(refusal, at: .revocation) }
        throw OAuthError(.unavailable, "\(authority) did not revoke the token (HTTP \(answer.status))")
    }

    /// Gets a resource of the authority with an access token.
    ///
    /// - Throws: `unavailable` if the answer isn't a success.
    package func answer(of resource: String, to accessToken: Secret) async throws(OAuthError) -> HTTPAnswer {
        let proof = ("authorization", "Bearer \(accessToken.reveal())")
        let answer = try await transport.get(resource, headers: [proof])
        guard answer.status == 200 else {
            throw OAuthError(
                .unavailable, "\(authority) does not say who signed in (HTTP \(answer.status))",
                hint: "check the scopes: one may be missing that lets the account be read")
        }
        return answer
    }
}
