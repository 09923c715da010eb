/// Why a plugin could not do what it was asked (docs/plugin-protocol.md, ERROR).
public struct PluginError: Error, Sendable, Equatable {
    /// The kinds of error; a code that the host doesn't know is taken as `internal`.
    public enum Code: String, Sendable, CaseIterable {
        /// Only the person can go on: sign in again, consent, pass a policy.
        case interactionRequired = "interaction-required"
        /// The authority granted less than was asked.
        case declinedScopes = "declined-scopes"
        /// The person (or nobody in time) ended it.
        case cancelled
        /// Too many requests; `retryAfter` says how long to wait.
        case throttled
        /// The authority cannot be reached or does not work; what is stored stays usable.
        case unavailable
        /// The request, or the application's registration, is wrong; trying again does not help.
        case invalidRequest = "invalid-request"
        /// The plugin cannot do this.
        case unsupported
        /// The plugin failed, or broke the protocol.
        case `internal`
    }

    /// What the authority's refusal means, as far as somebody can do something about it; several may be true.
    public enum Reason: String, Sendable, CaseIterable {
        /// The authority doesn't accept the account; another might do.
        case otherAccount = "other-account"
        /// The account is no more.
        case accountDeleted = "account-deleted"
        /// The refresh token is dead.
        case deadToken = "dead-token"
        /// The authority doesn't take the client: it doesn't know its ID, or the secret is missing or wrong.
        case clientRefused = "client-refused"
        /// The refresh token is a family's that the client isn't in.
        case notInFamily = "not-in-family"
        /// The person must prove more, such as by a second factor or a registered device.
        case proof
        /// The person, or an administrator, must consent to what the application asks for.
        case consent
        /// The person must change an expired password.
        case expiredPassword = "expired-password"
        /// A policy forbids it; the authority's page tells why.
        case policy
    }

    /// The kind.
    public var code: Code
    /// One sentence for a person: lower case, no full stop, no secret.
    public var message: String
    /// What the person can do about it; one sentence.
    public var hint: String?
    /// The authority's `error` (RFC 6749, 5.2).
    public var error: String?
    /// What the authority says about that more finely.
    public var suberror: String?
    /// The authority's own codes, as its documentation writes them.
    public var errorCodes: [String] = []
    /// What of it somebody can do something about.
    public var reasons: Set<Reason> = []
    /// The authority's correlation id.
    public var correlationID: String?
    /// Seconds to wait before the next try.
    public var retryAfter: Int?
    /// A claims challenge to answer with.
    public var claims: String?
    /// With `declined-scopes`: what was granted.
    public var grantedScopes: [String] = []
    /// With `declined-scopes`: what was not.
    public var declinedScopes: [String] = []

    /// With `cancelled`, from the host: whether the person just took too long.
    public var isTimeout = false

    /// Makes an error.
    public init(_ code: Code, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }
}
