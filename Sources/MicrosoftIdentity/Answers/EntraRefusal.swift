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

    /// Creates a refusal from its parts.
    package init(
        _ response: ErrorResponse, suberror: String? = nil, codes: [Int] = [], claims: String? = nil,
        correlationID: String? = nil, traceID: String? = nil, timestamp: String? = nil
    ) {
        self.response = response
        self.suberror = suberror.flatMap { $0.isEmpty ? nil : $0.lowercased() }
        self.codes = codes.isEmpty ? Self.codes(in: response.description) : codes
        self.claims = claims
        let words = response.description
        self.correlationID = correlationID ?? Self.identifier(behind: "Correlation ID: ", in: words)
        self.traceID = traceID ?? Self.identifier(behind: "Trace ID: ", in: words)
        self.timestamp = timestamp ?? Self.timestamp(in: words)
    }

    /// Parses the members that a response has besides OAuth's.
    package init(reading response: ErrorResponse) {
        let members = response.members(Members.self)
        self.init(
            response, suberror: members?.subcode ?? members?.suberror, codes: (members?.codes ?? []).map(\.value),
            claims: members?.claims, correlationID: members?.correlationID, traceID: members?.traceID,
            timestamp: members?.timestamp)
    }

    /// The description without the trailing trace ID, correlation ID and timestamp, starting with the error's number.
    package var summary: String {
        let shown = response.summary(endingAt: [" Trace ID:", " Correlation ID:"])
        guard let code = codes.first(where: { $0 > 0 }), !shown.contains("AADSTS\(code)") else { return shown }
        return "AADSTS\(code): \(shown)"
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
        guard let found = description.utf8.firstRange(of: mark.utf8) else { return "" }
        return String(Substring(description.utf8[found.upperBound...].prefix { allowed.contains($0) }))
    }

    private static func codes(in description: String) -> [Int] {
        guard let mark = description.firstRange(of: "AADSTS") else { return [] }
        let digits = description[mark.upperBound...].utf8.prefix { "0123456789".utf8.contains($0) }
        return Int(Substring(digits)).map { [$0] } ?? []
    }

    private struct Members: Decodable {
        var subcode: String?
        var suberror: String?
        var codes: [LenientNumber]?
        var claims: String?
        var correlationID: String?
        var traceID: String?
        var timestamp: String?

        enum CodingKeys: String, CodingKey {
            /// The name in authorization responses.
            case subcode = "error_subcode"
            case suberror
            case codes = "error_codes"
            case claims
            case correlationID = "correlation_id"
            case traceID = "trace_id"
            case timestamp
        }
    }
}
