import Secrets

/// The reason why a request to an authority failed, with a message for the user.
package struct OAuthError: Error, Sendable, Equatable {
    /// The kind of failure, which decides what to do next.
    package enum Kind: Sendable, Equatable {
        /// The authority refused.
        case refused(ErrorResponse, Stage)
        /// The authority refused without an explanation: status 400, and nothing else.
        case silent(Stage)
        /// The user cancelled, or nobody responded in time.
        case cancelled
        /// There were too many requests; `retryAfter` says how long to wait.
        case throttled
        /// The authority is unreachable or doesn't work; stored tokens stay usable.
        case unavailable
        /// The request or the client's registration is wrong; trying again doesn't help.
        case invalidRequest
        /// A setting of this computer can't be used, such as a variable or git's; trying again doesn't help.
        case unusableSetting
        /// There is no authority at the URL.
        case notFound
        /// The redirect URI can't be used.
        case unusableRedirect
        /// The token endpoint's answer contains no access token.
        case noAccessToken
        /// The operation isn't possible here.
        case unsupported
        /// The authority violated the protocol.
        case broken
        /// The answer isn't trustworthy: it may come from someone else.
        case untrusted
    }

    /// The request that was refused, which decides what the refusal means.
    package enum Stage: Sendable, Equatable {
        /// Fetching the authority's metadata.
        case configuration
        /// The authorization page.
        case authorization
        /// Redeeming a code.
        case redemption
        /// Requesting or redeeming a device code.
        case device
        /// Redeeming a refresh token.
        case refresh
        /// Authenticating an application (RFC 6749, 4.4).
        case authentication
        /// Revoking a token.
        case revocation
        /// Registering an application.
        case registration
    }

    /// The kind of failure, as far as callers act on it.
    package var kind: Kind
    /// One sentence for the user: lower case, no full stop, no secret.
    package var message: String
    /// How the user can fix it, in one sentence; nil if unknown.
    package var hint: String?
    /// Seconds to wait before the next attempt.
    package var retryAfter: Int?
    /// Whether the authority's servers answered, even though the answer was unusable.
    package var wasAnswered = false
    /// Whether the endpoint no longer exists or has moved, so that the request had no effect.
    package var hasMoved = false

    /// Creates an error.
    package init(_ kind: Kind, _ message: String, hint: String? = nil) {
        self.kind = kind
        self.message = message
        self.hint = hint
    }

    /// Creates an error from a refusal, in the authority's own words.
    package init(_ response: ErrorResponse, at stage: Stage) {
        self.init(.refused(response, stage), "the authority refuses: \(response.summary())")
    }

    /// Returns the error for an answer that isn't what it should be, so that it may be another server's.
    package static func unreadable(from authority: String, not document: String) -> OAuthError {
        OAuthError(
            .unavailable, "\(authority) answered with something that is not \(document)",
            hint: "check that no proxy or network sign-in page is in between")
    }

    /// Returns a hint for an answer that names another issuer: the authority may be misspelt, or another server may
    /// have answered.
    static func checkAuthority(_ issuer: String) -> String {
        "check the rule's authority: what answered calls itself \(issuer.displayable(limit: 200))"
    }

    static let ended = OAuthError(.cancelled, "the sign-in was ended")
    static let codeExpired = OAuthError(.cancelled, "the code expired before it was used")
    static let cancelled = OAuthError(.cancelled, "the sign-in was cancelled")
}

extension OAuthError {
    /// Whether the user declined at the authority (RFC 6749, 4.1.2.1).
    var isDenial: Bool {
        guard case .refused(let response, _) = kind else { return false }
        return response.error == "access_denied"
    }
}
