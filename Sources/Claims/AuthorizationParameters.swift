/// What an authorization request holds, for whoever checks what consumers, rules and options add to one.
package enum AuthorizationParameters {
    /// OpenID Connect's prompts (OpenID Connect Core 1.0, 3.1.2.1), with Entra's `create`.
    package static let prompts = ["none", "login", "consent", "select_account", "create"]

    /// The parameters that are the protocol's: never to be set from outside, whether a request has them or not.
    package static let reserved: Set<String> = [
        "claims", "client_assertion", "client_assertion_type", "client_id", "client_info", "client_secret", "code",
        "code_challenge", "code_challenge_method", "code_verifier", "domain_hint", "grant_type", "id_token_hint",
        "login_hint", "nonce", "p", "prompt", "redirect_uri", "refresh_token", "request", "request_uri",
        "response_mode", "response_type", "scope", "state", "x-anchormailbox",
    ]
}
