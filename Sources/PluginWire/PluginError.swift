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

    /// What the person would have to do, as MSAL classifies Entra's suberrors.
    public enum Interaction: String, Sendable, CaseIterable {
        /// Pass multi-factor authentication, or something as simple.
        case basicAction = "basic_action"
        /// Something outside of the sign-in, such as registering a device.
        case additionalAction = "additional_action"
        /// Nothing helps; the page tells why.
        case messageOnly = "message_only"
        /// Consent to what the application asks for.
        case consentRequired = "consent_required"
        /// Change an expired password.
        case userPasswordExpired = "user_password_expired"
    }

    /// The kind.
    public var code: Code
    /// One sentence for a person: lower case, no full stop, no secret.
    public var message: String
    /// What the person can do about it; one sentence.
    public var hint: String?
    /// The authority's `error` (RFC 6749, 5.2).
    public var error: String?
    /// Entra's `suberror`, such as `bad_token`.
    public var suberror: String?
    /// Entra's AADSTS numbers, or B2C's AADB2C number.
    public var errorCodes: [Int] = []
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

    /// What the person would have to do; nil where the authority doesn't tell.
    public var interaction: Interaction? {
        if let interaction = suberror.flatMap({ Interaction(rawValue: $0.lowercased()) }) { return interaction }
        return error == Interaction.consentRequired.rawValue ? .consentRequired : nil
    }

    /// Makes an error.
    public init(_ code: Code, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }
}
