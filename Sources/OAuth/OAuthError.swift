import Secrets

/// Why an authority gave nothing to go on with, in words for a person.
package struct OAuthError: Error, Sendable, Equatable {
    /// What kind of trouble it is, which decides what helps.
    package enum Kind: Sendable, Equatable {
        /// The authority refuses.
        case refused(ErrorResponse, Stage)
        /// The authority refuses without a word: status 400, and nothing else.
        case silent(Stage)
        /// The person (or nobody in time) ended it.
        case cancelled
        /// Too many requests; `retryAfter` says how long to wait.
        case throttled
        /// The authority can't be reached or doesn't work; what is stored stays usable.
        case unavailable
        /// The request or the client's registration is wrong; trying again doesn't help.
        case invalidRequest
        /// There is no authority at the URL.
        case notFound
        /// The redirect URI can't be used.
        case unusableRedirect
        /// The answer of the token endpoint has no access token.
        case noAccessToken
        /// It can't be done here.
        case unsupported
        /// The authority broke the protocol.
        case broken
        /// What came is not to be believed: it may be another's.
        case untrusted
    }

    /// Where an authority refused, which decides what the refusal means.
    package enum Stage: Sendable, Equatable {
        /// Reading what the authority says of itself.
        case configuration
        /// The authorization page.
        case authorization
        /// Redeeming a code.
        case redemption
        /// Asking for a device code, or redeeming it.
        case device
        /// Redeeming a refresh token.
        case refresh
        /// Proving an application (RFC 6749, 4.4).
        case authentication
        /// Taking a token back.
        case revocation
        /// Registering an application.
        case registration
    }

    /// What went wrong, as far as callers do something else for it.
    package var kind: Kind
    /// One sentence for a person: lower case, no full stop, no secret.
    package var message: String
    /// What the person can do about it; one sentence.
    package var hint: String?
    /// Seconds to wait before the next try.
    package var retryAfter: Int?
    /// Whether this is what the authority's servers answered, though they gave no answer to work with.
    package var wasAnswered = false
    /// Whether nobody answers there for what was asked, as if it had moved; so it was asked in vain.
    package var hasMoved = false

    /// Makes an error.
    package init(_ kind: Kind, _ message: String, hint: String? = nil) {
        self.kind = kind
        self.message = message
        self.hint = hint
    }

    /// A refusal, in the authority's own words.
    package init(_ response: ErrorResponse, at stage: Stage) {
        self.init(.refused(response, stage), "the authority refuses: \(response.summary())")
    }

    /// What to do if an answer names another issuer: the authority may be misspelt, or something else may have answered.
    static func checkAuthority(_ issuer: String) -> String {
        "check the rule's authority: what answered calls itself \(issuer.displayable(limit: 200))"
    }

    static let ended = OAuthError(.cancelled, "the sign-in was ended")
    static let cancelled = OAuthError(.cancelled, "the sign-in was cancelled")
}

extension OAuthError {
    /// Whether the person said no at the authority (RFC 6749, 4.1.2.1).
    var isDenial: Bool {
        guard case .refused(let response, _) = kind else { return false }
        return response.error == "access_denied"
    }
}
