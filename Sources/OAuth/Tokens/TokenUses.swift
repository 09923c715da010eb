package import Secrets

extension OAuthClient {
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
