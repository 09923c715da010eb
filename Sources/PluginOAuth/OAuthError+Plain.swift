package import HTTP
package import OAuth
package import PluginWire

extension Transport {
    /// Posts a form that exchanges a token, which does no harm if repeated.
    package func exchange(_ url: String, _ form: [FormEncoding.Field]) async throws(PluginError) -> HTTPAnswer {
        do throws(OAuthError) { return try await post(url, form, .harmless) } catch { throw error.plain }
    }
}

extension OAuthError {
    /// The error in the plugin protocol's terms; the meaning of a refusal depends on the authority.
    package var plain: PluginError {
        var error = PluginError(code, message, hint: hint)
        error.retryAfter = retryAfter
        if kind == .unusableSetting { error.reasons = [.setting] }
        return error
    }

    private var code: PluginError.Code {
        switch kind {
        case .cancelled: .cancelled
        case .throttled: .throttled
        case .unavailable, .silent: .unavailable
        case .refused, .invalidRequest, .unusableSetting, .notFound, .unusableRedirect, .noAccessToken: .invalidRequest
        case .unsupported: .unsupported
        case .broken, .untrusted: .internal
        }
    }
}
