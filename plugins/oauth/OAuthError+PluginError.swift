import OAuth
import PluginOAuth
import PluginWire

extension OAuthError {
    /// Converts the error to one of the plugin protocol, with a hint for the user.
    func pluginError(of request: PluginRequest, _ traits: IssuerTraits) -> PluginError {
        var error = plain
        switch kind {
        case .refused(let response, let stage): return Self.refusal(response, stage, of: request, traits)
        case .silent(.refresh):
            error = PluginError(.interactionRequired, "the authority refuses the refresh token")
            error.reasons = [.deadToken]
        case .untrusted: error.code = .invalidRequest
        case .broken, .noAccessToken: error.code = .unavailable
        default: break
        }
        return error
    }

    private static func refusal(
        _ response: ErrorResponse, _ stage: Stage, of request: PluginRequest, _ traits: IssuerTraits
    ) -> PluginError {
        let isDead = stage == .refresh && traits.deadTokenErrors.contains(response.error)
        let meaning = isDead ? Meaning(code: .interactionRequired, reason: .deadToken) : Meaning(response.error, stage)
        var error = PluginError(
            meaning.code, meaning.message ?? "the authority refuses: \(response.summary())", hint: meaning.hint)
        error.error = response.error.plain(limit: 100)
        if let reason = meaning.reason { error.reasons = [reason] }
        if meaning.code == .declinedScopes { error.declinedScopes = request.scopes }
        return error
    }
}

/// The meaning of a refusal for the host and the user.
private struct Meaning {
    var code: PluginError.Code
    /// What to say in place of the authority's words.
    var message: String?
    var reason: PluginError.Reason?
    var hint: String?
}

extension Meaning {
    init(_ error: String, _ stage: OAuthError.Stage) {
        self =
            switch error {
            case "access_denied", "authorization_declined":
                stage == .refresh
                    ? Meaning(code: .interactionRequired)
                    : Meaning(code: .cancelled, message: "you cancelled the sign-in")
            case "expired_token", "token_expired":
                Meaning(code: .cancelled, message: "the code expired before it was used")
            case "login_required", "interaction_required", "account_selection_required":
                Meaning(code: .interactionRequired)
            case "consent_required":
                Meaning(
                    code: .interactionRequired, reason: .consent,
                    hint: "sign in again and accept what the application asks for")
            case "unauthorized_client":
                Meaning(
                    code: .invalidRequest, reason: .clientRefused,
                    hint: "check that the application's registration allows this way to sign in")
            // The last one is GitHub's.
            case "invalid_client", "incorrect_client_credentials":
                Meaning(code: .invalidRequest, reason: .clientRefused)
            case "invalid_scope":
                Meaning(
                    code: .declinedScopes,
                    hint: "check the scopes: the issuer or the application's registration doesn't know one")
            case "temporarily_unavailable", "server_error": Meaning(code: .unavailable, hint: "try again later")
            case "use_dpop_nonce":
                Meaning(
                    code: .unsupported,
                    message: "the authority wants tokens that are bound to a key, which git cannot use")
            case "redirect_uri_mismatch":
                Meaning(code: .invalidRequest, hint: "register the redirect URI for the application")
            case "invalid_target":
                Meaning(
                    code: .invalidRequest, hint: "check the resource in the rule: the issuer doesn't know it")
            default: Meaning(code: .invalidRequest)
            }
    }
}
