/// What one kind of authority does besides the standards, for the flows to ask.
package protocol AuthorityRules: Sendable {
    /// What a sign-in ends with.
    associatedtype Tokens: Sendable

    /// Further parameters of an authorization request, behind all others.
    ///
    /// - Throws: if the request can't be made of what was asked for.
    func authorizationParameters() throws(OAuthError) -> [FormEncoding.Field]

    /// Further headers of the request that redeems the code of a response.
    func headers(redeeming response: AuthorizationResponse) -> [(String, String)]

    /// Judges what the token endpoint answered.
    ///
    /// - Parameters:
    ///   - response: the tokens; nothing of them was checked.
    ///   - nonce: what an ID token must name; nil if none was sent.
    /// - Returns: what the sign-in ends with.
    /// - Throws: if the tokens aren't to be believed.
    func accept(_ response: TokenResponse, nonce: String?) async throws(OAuthError) -> Tokens

    /// Whether the next flow may do better after this error of one.
    func mayDoBetterElsewhere(after error: OAuthError) -> Bool

    /// The page that the browser ends at with these tokens.
    func page(with tokens: Tokens) -> LoopbackPage

    /// The page that the browser ends at after an error.
    func page(after error: OAuthError) -> LoopbackPage
}

extension AuthorityRules {
    /// None.
    package func authorizationParameters() throws(OAuthError) -> [FormEncoding.Field] { [] }
    /// None.
    package func headers(redeeming response: AuthorizationResponse) -> [(String, String)] { [] }
    /// No.
    package func mayDoBetterElsewhere(after error: OAuthError) -> Bool { false }
    /// The usual page.
    package func page(with tokens: Tokens) -> LoopbackPage { .success }
    /// The page for an end by the person, or the one for all else.
    package func page(after error: OAuthError) -> LoopbackPage { LoopbackPage(after: error) }
}
