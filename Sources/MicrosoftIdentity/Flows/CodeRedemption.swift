import PluginWire
import Secrets

/// Turns the answer to an authorization request into tokens (RFC 6749, 4.1.3).
struct CodeRedemption: Sendable {
    let session: AuthoritySession

    /// Redeems the code.
    ///
    /// - Throws: `invalid-request` where the answer belongs to another request: then nothing is sent; else what the
    ///   authority refuses with, in the answer or at the token endpoint.
    func redeem(
        _ response: AuthorizationResponse, of request: AuthorizationRequest
    ) async throws(PluginError) -> PluginResult {
        guard response.answers(state: request.state) else {
            throw PluginError(
                .invalidRequest, "this answer belongs to another sign-in",
                hint: "paste the address that the page opened last ends at")
        }
        if let failure = response.failure { throw session.explain(failure, .authorization) }
        guard let code = response.code else {
            throw PluginError(.internal, "\(session.authority.environment) answered without a code")
        }
        let grant: [FormEncoding.Field] = [
            ("grant_type", "authorization_code"), ("code", code.reveal()), ("redirect_uri", request.redirectURI),
            ("code_verifier", request.proofKey.verifier),
        ]
        let tokens = try await session.redeem(grant, stage: .redemption, anchor: response.anchorMailbox)
        return try session.result(tokens, nonce: request.nonce)
    }
}
