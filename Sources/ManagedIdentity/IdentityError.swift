package import PluginWire

/// Why a platform gave no token, in words for a person.
package struct IdentityError: Error, Sendable, Equatable {
    /// What kind of trouble it is.
    package enum Kind: String, Sendable {
        /// The platform isn't there, hasn't such an identity or doesn't work; another way to sign in may do.
        case unavailable
        /// What was asked, or a variable, is wrong; trying again doesn't help.
        case invalidRequest = "invalid-request"
        /// The platform doesn't believe who asks.
        case authenticationFailed = "authentication-failed"
        /// What came can't be what the platform answers, or not for whoever asked.
        case invalidResponse = "invalid-response"
        /// Too many requests.
        case throttled
        /// The host lost interest.
        case cancelled
    }

    /// What kind of trouble it is.
    package var kind: Kind
    /// One sentence: lower case, no full stop, no secret.
    package var message: String
    /// What a person can do about it.
    package var hint: String?
    /// The status that the platform answered with, if it answered.
    package var status: Int?
    /// What the platform said.
    package var fault = Fault()
    /// Seconds to wait before the next try.
    package var retryAfter: Int?

    /// Makes an error.
    package init(_ kind: Kind, _ message: String, hint: String? = nil) {
        self.kind = kind
        self.message = message
        self.hint = hint
    }

    /// The same in the plugin protocol's terms.
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
