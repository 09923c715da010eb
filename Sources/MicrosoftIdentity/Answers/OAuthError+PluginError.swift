import OAuth
import PluginOAuth
import PluginWire

extension OAuthError {
    /// Converts the error to one of the plugin protocol; `explain` returns an error for refusals that are specific to
    /// one kind of authority.
    func pluginError(explaining explain: (EntraRefusal) -> PluginError? = { _ in nil }) -> PluginError {
        if case .refused(let response, let stage) = kind {
            let refusal = EntraRefusal(response)
            return explain(refusal) ?? refusal.pluginError(stage)
        }
        var error = plain
        error.hint = advice
        return error
    }

    /// The hint, in the terms of Microsoft's portals.
    private var advice: String? {
        switch kind {
        case .unusableRedirect: "use http://localhost, registered under mobile and desktop applications"
        case .noAccessToken: "name a scope of the API that the token is for; for B2C the client ID itself is one"
        default: hint
        }
    }
}
