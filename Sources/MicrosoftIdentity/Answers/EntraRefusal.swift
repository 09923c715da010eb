import Addresses
package import OAuth

/// An error response of a Microsoft authority: OAuth's error and its additional members.
package struct EntraRefusal: Sendable, Equatable {
    private let response: ErrorResponse
    /// A more specific error, in lower case.
    package let suberror: String?
    /// The AADSTS numbers, from the response's list or its description.
    package let codes: [Int]
    /// A claims challenge; nil if there is none.
    package let claims: String?
    /// The ID of the request in the authority's logs.
    package let correlationID: String?
    /// The ID of the response in the authority's logs.
    package let traceID: String?
    /// When the authority refused, by its own clock.
    package let timestamp: String?

    /// The error code, in lower case.
    package var error: String { response.error }
    /// The authority's description of the error.
    package var description: String { response.description }

    /// Parses the members that a response has besides OAuth's, and its description.
    package init(_ response: ErrorResponse) {
        let members = response.members(Members.self)
        let words = response.description
        let listed = (members?.error_codes ?? []).map(\.value)
        self.response = response
        suberror = (members?.error_subcode ?? members?.suberror).flatMap { $0.isEmpty ? nil : $0.lowercased() }
        codes = listed.isEmpty ? Self.number(behind: "AADSTS", in: words).map { [$0] } ?? [] : listed
        claims = members?.claims
        correlationID = members?.correlation_id ?? Self.identifier(behind: "Correlation ID: ", in: words)
        traceID = members?.trace_id ?? Self.identifier(behind: "Trace ID: ", in: words)
        timestamp = members?.timestamp ?? Self.timestamp(in: words)
    }

    /// The description without the trailing trace ID, correlation ID and timestamp, starting with the error's number.
    package var summary: String {
        let shown = response.summary(endingAt: [" Trace ID:", " Correlation ID:"])
        guard let code = codes.first(where: { $0 > 0 }), !shown.hasBytes("AADSTS\(code)") else { return shown }
        return "AADSTS\(code): \(shown)"
    }

    /// Returns the number after a mark; nil if there is none.
    package static func number(behind mark: String, in description: String) -> Int? {
        Int(run(of: "0123456789", behind: mark, in: description))
    }

    /// Returns an ID that authorization responses and B2C's errors contain only in their text.
    private static func identifier(behind mark: String, in description: String) -> String? {
        let id = run(of: "-0123456789abcdefABCDEF", behind: mark, in: description)
        return id.utf8.count == 36 ? id : nil
    }

    /// Returns a time such as `2026-01-31 12:34:56Z`.
    private static func timestamp(in description: String) -> String? {
        let time = run(of: "-:TZ. 0123456789", behind: "Timestamp: ", in: description).trimmed(of: " .")
        return time.isEmpty || time.utf8.count > 32 ? nil : String(time)
    }

    /// Returns the run of these bytes after a mark; empty if the mark doesn't occur.
    private static func run(of bytes: String, behind mark: String, in description: String) -> String {
        let allowed = Array(bytes.utf8)
        guard let (_, rest) = description.cut(atText: mark) else { return "" }
        return String(Substring(rest.utf8.prefix { allowed.contains($0) }))
    }

    private struct Members: Decodable {
        /// The name of `suberror` in authorization responses.
        @Lenient var error_subcode: String?
        @Lenient var suberror: String?
        @Lenient var error_codes: [LenientNumber]?
        @Lenient var claims: String?
        @Lenient var correlation_id: String?
        @Lenient var trace_id: String?
        @Lenient var timestamp: String?
    }
}
