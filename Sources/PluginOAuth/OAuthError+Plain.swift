package import OAuth
package import PluginWire

extension OAuthError {
    /// The same in the plugin protocol's terms; what a refusal means is its authority's to say.
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
