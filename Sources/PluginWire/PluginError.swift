package import Secrets

/// The reason why a plugin couldn't carry out a request (docs/plugin-protocol.md, ERROR).
public struct PluginError: Error, Sendable, Equatable {
    /// The kinds of errors; a code that the host doesn't know counts as `internal`.
    public enum Code: String, Sendable, CaseIterable {
        /// Only the user can continue: sign in again, consent, or satisfy a policy.
        case interactionRequired = "interaction-required"
        /// The authority granted fewer scopes than requested.
        case declinedScopes = "declined-scopes"
        /// The user declined, or nobody answered in time.
        case cancelled
        /// There were too many requests; `retryAfter` says how long to wait.
        case throttled
        /// The authority can't be reached or doesn't work; stored tokens stay usable.
        case unavailable
        /// The request, or the application's registration, is invalid; trying again doesn't help.
        case invalidRequest = "invalid-request"
        /// The plugin doesn't support this.
        case unsupported
        /// The plugin failed, or broke the protocol.
        case `internal`
    }

    /// Meanings of an authority's error that have a remedy; several may apply.
    public enum Reason: String, Sendable, CaseIterable {
        /// The authority doesn't accept the account; another account might work.
        case otherAccount = "other-account"
        /// The account was deleted.
        case accountDeleted = "account-deleted"
        /// The refresh token is no longer valid.
        case deadToken = "dead-token"
        /// The authority doesn't accept the client: its ID is unknown, or the secret is missing or wrong.
        case clientRefused = "client-refused"
        /// The refresh token belongs to a family that the client isn't a member of.
        case notInFamily = "not-in-family"
        /// The user must provide further proof, such as a second factor or a registered device.
        case proof
        /// The user or an administrator must consent to the scopes that the application requests.
        case consent
        /// The user must change an expired password.
        case expiredPassword = "expired-password"
        /// A policy forbids it; the authority's page explains why.
        case policy
        /// A setting of this computer can't be used, such as a variable or git's; rule and registration aren't at fault.
        case setting
    }

    /// The kind.
    public var code: Code
    /// One sentence for the user: lower case, no full stop, no secret.
    public var message: String
    /// A remedy for the user, in one sentence.
    public var hint: String?
    /// The authority's `error` (RFC 6749, 5.2).
    public var error: String?
    /// A more specific code from the authority.
    public var suberror: String?
    /// The authority's own codes, as in its documentation.
    public var errorCodes: [String] = []
    /// The meanings of the error that have a remedy.
    public var reasons: Set<Reason> = []
    /// The authority's correlation ID.
    public var correlationID: String?
    /// Seconds to wait before the next attempt.
    public var retryAfter: Int?
    /// The claims challenge to answer.
    public var claims: String?
    /// The granted scopes, with `declined-scopes`.
    public var grantedScopes: [String] = []
    /// The scopes that weren't granted, with `declined-scopes`.
    public var declinedScopes: [String] = []
    /// The parameter of the exchange that the rule leaves open, if the user could pick one of `choices` for it.
    public var parameter: String?
    /// The values that the parameter may have, each of which may have words for the user after a blank.
    public var choices: [String] = []

    /// Whether the user took too long; only set by the host, with `cancelled`.
    public var isTimeout = false

    /// Creates an error.
    public init(_ code: Code, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }
}

extension PluginError: PluginAnswer {
    /// An error ends the conversation as well as a result.
    package var event: String { "error" }

    /// Writes the error.
    package func write(to writer: inout WireWriter) throws(ProtocolError) {
        try writer.put("code", code.rawValue)
        try writer.put("message", message: message)
        try writer.put("hint", message: hint)
        try writer.put("error", error)
        try writer.put("suberror", suberror)
        try writer.put("error_code[]", list: errorCodes)
        try writer.put("reason[]", list: reasons.map(\.rawValue).sorted())
        try writer.put("correlation_id", correlationID)
        try writer.put("retry_after", retryAfter)
        try writer.put("claims", claims)
        try writer.put("granted_scope[]", list: grantedScopes)
        try writer.put("declined_scope[]", list: declinedScopes)
        try writer.put("parameter", parameter)
        try writer.put("choice[]", list: choices)
    }

    /// Parses an error; a code that this version doesn't know becomes `internal`.
    package init(_ reader: WireReader) throws(ProtocolError) {
        let code = Code(rawValue: try reader.required("code", .token(64))) ?? .internal
        self.init(code, try reader.message("message") ?? code.rawValue, hint: try reader.message("hint"))
        error = reader.diagnostic("error", .token(256))
        suberror = reader.diagnostic("suberror", .token(256))
        errorCodes = reader.diagnostics("error_code[]", .token(64))
        // A reason from a later version has no known remedy, so it is ignored.
        reasons = Set(try reader.list("reason[]", .token(64)).compactMap(Reason.init(rawValue:)))
        correlationID = reader.diagnostic("correlation_id", .token(64))
        retryAfter = try reader.number("retry_after", in: Lifetime.range)
        claims = try reader.optional("claims", .text(32_768))
        grantedScopes = try reader.list("granted_scope[]", .scope)
        declinedScopes = try reader.list("declined_scope[]", .scope)
        parameter = try reader.optional("parameter", .token(64))
        choices = try reader.list("choice[]", .text(512))
    }

    /// The error if a signal or a cancelled task ended the conversation.
    public static let interrupted = PluginError(.cancelled, "interrupted")
}
