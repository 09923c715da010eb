package import Secrets

extension OAuthClient {
    /// Has the authority take back a refresh token, and what was got by it (RFC 7009).
    ///
    /// A token that the authority doesn't know is as good as taken back.
    ///
    /// - Throws: what the authority refuses with, or why it can't be asked.
    package func revoke(_ refreshToken: Secret, at endpoint: String) async throws(OAuthError) {
        let fields: [FormEncoding.Field] = [
            ("token", refreshToken.reveal()), ("token_type_hint", "refresh_token"),
        ]
        let answer = try await transport.post(endpoint, fields + credentials, headers: proof, .harmless)
        guard answer.status != 200 else { return }
        if let refusal = ErrorResponse(read(answer)) { throw OAuthError(refusal, at: .revocation) }
        throw OAuthError(.unavailable, "\(authority) did not revoke the token (HTTP \(answer.status))")
    }

    /// Asks a resource of the authority's, with a token for it.
    ///
    /// - Throws: `unavailable` if it answers with anything but success.
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
