/// OpenID Connect's prompts (OpenID Connect Core 1.0, 3.1.2.1), with Entra's `create`.
package enum SignInPrompt: String, Sendable, CaseIterable {
    case none
    case login
    case consent
    case selectAccount = "select_account"
    case create
}

/// What an authorization request holds, for whoever checks what consumers, rules and options add to one.
package enum AuthorizationParameters {
    /// The parameters that are the protocol's: never to be set from outside, whether a request has them or not.
    package static let reserved = Set(SignInParameter.allCases.map(\.wireKey)).union([
        "claims", "client_assertion", "client_assertion_type", "client_id", "client_info", "client_secret", "code",
        "code_challenge", "code_challenge_method", "code_verifier", "grant_type", "id_token_hint", "nonce", "p",
        "redirect_uri", "refresh_token", "request", "request_uri", "response_mode", "response_type", "scope", "state",
        "x-anchormailbox",
    ])
}
