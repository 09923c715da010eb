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
        let meaning = isDead ? .deadToken : Refusal(response.error, stage)
        var error = PluginError(
            meaning.code, meaning.message ?? "the authority refuses: \(response.summary())",
            hint: meaning.hint(response.error))
        error.error = response.error.plain(limit: 100)
        error.reasons = meaning.reasons
        if meaning == .scopes { error.declinedScopes = request.scopes }
        return error
    }
}

/// The meaning of a refusal for the host and the user.
private enum Refusal {
    case deadToken, client, scopes, consent, person, declined, expired, outage, unsupported, request

    init(_ error: String, _ stage: OAuthError.Stage) {
        self =
            switch error {
            case "access_denied", "authorization_declined": stage == .refresh ? .person : .declined
            case "expired_token", "token_expired": .expired
            case "login_required", "interaction_required", "account_selection_required": .person
            case "consent_required": .consent
            // The last one is GitHub's.
            case "invalid_client", "unauthorized_client", "incorrect_client_credentials": .client
            case "invalid_scope": .scopes
            case "temporarily_unavailable", "server_error": .outage
            case "use_dpop_nonce": .unsupported
            default: .request
            }
    }

    var code: PluginError.Code {
        switch self {
        case .deadToken, .person, .consent: .interactionRequired
        case .scopes: .declinedScopes
        case .declined, .expired: .cancelled
        case .outage: .unavailable
        case .unsupported: .unsupported
        case .client, .request: .invalidRequest
        }
    }

    var reasons: Set<PluginError.Reason> {
        switch self {
        case .deadToken: [.deadToken]
        case .client: [.clientRefused]
        case .consent: [.consent]
        default: []
        }
    }

    var message: String? {
        switch self {
        case .declined: "you cancelled the sign-in"
        case .expired: "the code expired before it was used"
        case .unsupported: "the authority wants tokens that are bound to a key, which git cannot use"
        default: nil
        }
    }

    func hint(_ error: String) -> String? {
        switch (self, error) {
        case (.consent, _): "sign in again and accept what the application asks for"
        case (.scopes, _): "check the scopes: the issuer or the application's registration doesn't know one"
        case (.outage, _): "try again later"
        case (.client, "unauthorized_client"): "check that the application's registration allows this way to sign in"
        case (.request, "redirect_uri_mismatch"): "register the redirect URI for the application"
        case (.request, "invalid_target"): "check the resource in the rule: the issuer doesn't know it"
        default: nil
        }
    }
}
