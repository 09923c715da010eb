package import Secrets

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
    }

    /// Parses an error; a code that this version doesn't know becomes `internal`.
    package init(_ reader: WireReader) throws(WireFault) {
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
    }

    /// The error if a signal or a cancelled task ended the conversation.
    public static let interrupted = PluginError(.cancelled, "interrupted")
}
