/// The values of `prompt` (OpenID Connect Core 1.0, 3.1.2.1), with `create` of Initiating User Registration via OpenID
/// Connect 1.0.
package enum SignInPrompt: String, Sendable, CaseIterable {
    case none
    case login
    case consent
    case selectAccount = "select_account"
    case create
}

/// The parameters of an authorization request, for checking what consumers, rules and options add to one.
package enum AuthorizationParameters {
    /// The protocol's own parameters, which must never be set from outside, whether or not a request has them; a plugin's
    /// manifest has those of its authorities.
    package static let reserved = Set(SignInParameter.allCases.map(\.wireKey)).union([
        "claims", "client_assertion", "client_assertion_type", "client_id", "client_secret", "code",
        "code_challenge", "code_challenge_method", "code_verifier", "grant_type", "id_token_hint", "nonce",
        "redirect_uri", "refresh_token", "request", "request_uri", "response_mode", "response_type", "scope", "state",
    ])
}
