package import PluginWire

/// The reason why a platform issued no token, with a message for the user.
package struct IdentityError: Error, Sendable, Equatable {
    /// The kind of failure.
    package enum Kind: String, Sendable {
        /// The platform is missing, lacks this identity or doesn't work; another way to sign in may succeed.
        case unavailable
        /// The request or a variable is wrong; trying again doesn't help.
        case invalidRequest = "invalid-request"
        /// The platform rejects the caller's proof.
        case authenticationFailed = "authentication-failed"
        /// The answer can't be the platform's, or isn't for this caller.
        case invalidResponse = "invalid-response"
        /// Too many requests.
        case throttled
        /// The host cancelled the request.
        case cancelled
    }

    /// The kind of failure.
    package var kind: Kind
    /// One sentence for the user: lower case, no full stop, no secret.
    package var message: String
    /// How the user can fix it; nil if unknown.
    package var hint: String?
    /// The status of the platform's answer; nil if there was no answer.
    package var status: Int?
    /// The platform's error response.
    package var fault = Fault()
    /// Seconds to wait before the next attempt.
    package var retryAfter: Int?

    /// Creates an error.
    package init(_ kind: Kind, _ message: String, hint: String? = nil) {
        self.kind = kind
        self.message = message
        self.hint = hint
    }

    /// The error as one of the plugin protocol.
    package var plain: PluginError {
        var error = PluginError(code, message, hint: hint)
        error.error = fault.error
        error.suberror = fault.suberror
        error.correlationID = fault.correlationID
        error.retryAfter = retryAfter
        return error
    }

    private var code: PluginError.Code {
        switch kind {
        case .unavailable: .unavailable
        case .invalidRequest, .authenticationFailed: .invalidRequest
        case .invalidResponse: .internal
        case .throttled: .throttled
        case .cancelled: .cancelled
        }
    }
}
