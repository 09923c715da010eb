/// How one kind of authority deviates from or extends the standards; the flows consult it.
package protocol AuthorityRules: Sendable {
    /// The result of a sign-in.
    associatedtype Tokens: Sendable

    /// Returns additional parameters of an authorization request, sent after all others.
    ///
    /// - Throws: if no valid request can be made from the caller's options.
    func authorizationParameters() throws(OAuthError) -> [FormEncoding.Field]

    /// Returns additional headers of the request that redeems the code of a response.
    func headers(redeeming response: AuthorizationResponse) -> [(String, String)]

    /// Validates the token endpoint's answer.
    ///
    /// - Parameters:
    ///   - response: The tokens, unvalidated.
    ///   - nonce: The nonce that the ID token must contain; nil if none was sent.
    /// - Returns: The result of the sign-in.
    /// - Throws: if the tokens aren't trustworthy.
    func accept(_ response: TokenResponse, nonce: String?) async throws(OAuthError) -> Tokens

    /// Whether the next flow may succeed after this flow's error.
    func shouldTryNextFlow(after error: OAuthError) -> Bool

    /// Returns the page to show in the browser after a successful sign-in.
    func page(with tokens: Tokens) -> LoopbackPage

    /// Returns the page to show in the browser after an error.
    func page(after error: OAuthError) -> LoopbackPage
}

extension AuthorityRules {
    /// By default, there are no additional parameters.
    package func authorizationParameters() throws(OAuthError) -> [FormEncoding.Field] { [] }
    /// By default, there are no additional headers.
    package func headers(redeeming response: AuthorizationResponse) -> [(String, String)] { [] }
    /// By default, no other flow is tried.
    package func shouldTryNextFlow(after error: OAuthError) -> Bool { false }
    /// Returns the default success page.
    package func page(with tokens: Tokens) -> LoopbackPage { .success }
    /// Returns the page for a sign-in that the user cancelled, or the one for any other error.
    package func page(after error: OAuthError) -> LoopbackPage { LoopbackPage(after: error) }
}
