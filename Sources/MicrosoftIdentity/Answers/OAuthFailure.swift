import Addresses
import Secrets

/// What an authority refuses with (RFC 6749, 4.1.2.1 and 5.2; RFC 8628, 3.5), with Entra's further members.
package struct OAuthFailure: Error, Sendable, Equatable {
    /// Where it was refused, which decides what a refusal means.
    package enum Stage: Sendable, Equatable {
        /// Reading what the authority says of itself.
        case configuration
        /// The authorization page.
        case authorization
        /// Redeeming a code, or asking for a device code.
        case redemption
        /// Redeeming a refresh token.
        case refresh
    }

    /// The error, lower case.
    package let error: String
    /// The authority's own words.
    package let description: String
    /// Entra's finer error, lower case.
    package let suberror: String?
    /// Entra's AADSTS numbers, of the answer's list or the description.
    package let codes: [Int]
    /// A claims challenge.
    package let claims: String?
    /// Names the request in the authority's logs.
    package let correlationID: String?

    /// Makes a failure of its parts.
    package init(
        error: String, description: String = "", suberror: String? = nil, codes: [Int] = [], claims: String? = nil,
        correlationID: String? = nil
    ) {
        self.error = error.lowercased()
        self.description = description
        self.suberror = suberror.flatMap { $0.isEmpty ? nil : $0.lowercased() }
        self.codes = codes.isEmpty ? Self.codes(in: description) : codes
        self.claims = claims
        self.correlationID = correlationID
    }

    /// Reads an endpoint's JSON; nil where it holds no `error`.
    ///
    /// Errors may come with status 200.
    init?(_ answer: HTTPAnswer) {
        guard let members = answer.json(Members.self), let error = members.error, !error.isEmpty else { return nil }
        self.init(
            error: error, description: members.description ?? "", suberror: members.suberror,
            codes: (members.codes ?? []).map(\.value), claims: members.claims,
            correlationID: members.correlationID ?? Self.correlationID(in: members.description ?? ""))
    }

    /// Reads an authorization response; nil where it holds no `error`.
    init?(response fields: [String: String]) {
        guard let error = fields["error"], !error.isEmpty else { return nil }
        self.init(
            error: error, description: fields["error_description"] ?? "",
            suberror: fields["error_subcode"] ?? fields["suberror"], claims: fields["claims"],
            correlationID: fields["correlation_id"] ?? Self.correlationID(in: fields["error_description"] ?? ""))
    }

    /// The authority's words without what follows them (trace id, correlation id, timestamp), its number before them.
    package var summary: String {
        var text = Substring(description.utf8.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") })
        for end in [" Trace ID:", " Correlation ID:"] {
            if let range = text.utf8.firstRange(of: end.utf8) { text = text[..<range.lowerBound] }
        }
        let words = String(text.trimmed(of: " ."))
        let shown = (words.isEmpty ? error : words).displayable(limit: 300)
        guard let code = codes.first(where: { $0 > 0 }), !shown.contains("AADSTS\(code)") else { return shown }
        return "AADSTS\(code): \(shown)"
    }

    /// The id that authorization responses and B2C's errors have in their text only.
    private static func correlationID(in description: String) -> String? {
        guard let mark = description.firstRange(of: "Correlation ID: ") else { return nil }
        let id = description[mark.upperBound...].utf8.prefix { "-0123456789abcdefABCDEF".utf8.contains($0) }
        return id.count == 36 ? String(Substring(id)) : nil
    }

    private static func codes(in description: String) -> [Int] {
        guard let mark = description.firstRange(of: "AADSTS") else { return [] }
        let digits = description[mark.upperBound...].utf8.prefix { "0123456789".utf8.contains($0) }
        return Int(Substring(digits)).map { [$0] } ?? []
    }

    private struct Members: Decodable {
        var error: String?
        var description: String?
        var suberror: String?
        var codes: [LenientNumber]?
        var claims: String?
        var correlationID: String?

        enum CodingKeys: String, CodingKey {
            case error
            case description = "error_description"
            case suberror
            case codes = "error_codes"
            case claims
            case correlationID = "correlation_id"
        }
    }
}
