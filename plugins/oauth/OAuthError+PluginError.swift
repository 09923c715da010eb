import OAuth
import PluginOAuth
import PluginWire
import Secrets

extension OAuthError {
    /// Converts the error to one of the plugin protocol, with a hint for the user.
    func pluginError(of request: PluginRequest) -> PluginError {
        var error = plain
        switch kind {
        case .refused(let response, let stage): return Self.refusal(response, stage, of: request)
        case .silent(.refresh):
            error = PluginError(.interactionRequired, "the authority refuses the refresh token")
            error.reasons = [.deadToken]
        case .untrusted: error.code = .invalidRequest
        case .broken, .noAccessToken:
            error.code = .unavailable
            error.hint = hint ?? "the authority breaks a standard here: tell whoever runs it"
        default: break
        }
        return error
    }

    private static func refusal(
        _ response: ErrorResponse, _ stage: Stage, of request: PluginRequest
    ) -> PluginError {
        // A client that proves nothing isn't refused for its proof: without a word from the authority, it may be the token.
        let isPublics = stage == .refresh && request.clientSecret == nil
        let code = response.unnamedStatus.flatMap { isPublics ? "http_\($0)" : nil } ?? response.error
        let meaning = Meaning(code, stage)
        var error = PluginError(
            meaning.code, meaning.message ?? "the authority refuses: \(response.summary())", hint: meaning.hint)
        error.error = code.plain(limit: 100)
        if code == "device_flow_disabled" {
            error.hint =
                "tick \"Enable Device Flow\" in the application's registration, or store its client secret, with which the "
                + "browser signs in: lanyard rule secret \(request.clientID.displayable(limit: 100))"
        }
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
            // Whoever signs in again needs no renewal for now. Gitea says that a client isn't authorized, GitHub that a
            // token is bad.
            case "invalid_grant", "unsupported_grant_type", "unauthorized_client", "bad_refresh_token", "invalid_token",
                "expired_token", "token_expired":
                stage == .refresh ? Meaning(code: .interactionRequired, reason: .deadToken) : Self.ofCode(error)
            case "access_denied", "authorization_declined":
                stage == .refresh
                    ? Meaning(code: .interactionRequired)
                    : Meaning(code: .cancelled, message: "you cancelled the sign-in")
            case "login_required", "interaction_required", "account_selection_required":
                Meaning(code: .interactionRequired)
            case "consent_required":
                Meaning(
                    code: .interactionRequired, reason: .consent,
                    hint: "sign in again and accept what the application asks for")
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
                    code: .invalidRequest,
                    hint: "check the resource in the rule, or the identity's `audience`: the issuer doesn't know it")
            // A refresh token that is refused for another reason than the client may be replaced by signing in.
            default: Meaning(code: stage == .refresh ? .interactionRequired : .invalidRequest)
            }
    }

    /// The meaning of a refused code.
    private static func ofCode(_ error: String) -> Meaning {
        switch error {
        case "expired_token", "token_expired":
            Meaning(code: .cancelled, message: "the code expired before it was used")
        case "unauthorized_client":
            Meaning(
                code: .invalidRequest, reason: .clientRefused,
                hint: "check that the application's registration allows this way to sign in")
        default: Meaning(code: .invalidRequest)
        }
    }
}
