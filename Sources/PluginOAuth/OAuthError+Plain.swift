package import OAuth
package import PluginWire

extension OAuthError {
    /// The error in the plugin protocol's terms; the meaning of a refusal depends on the authority.
    package var plain: PluginError {
        var error = PluginError(code, message, hint: hint)
        error.retryAfter = retryAfter
        return error
    }

    private var code: PluginError.Code {
        switch kind {
        case .cancelled: .cancelled
        case .throttled: .throttled
        case .unavailable, .silent: .unavailable
        case .refused, .invalidRequest, .notFound, .unusableRedirect, .noAccessToken: .invalidRequest
        case .unsupported: .unsupported
        case .broken, .untrusted: .internal
        }
    }
}
