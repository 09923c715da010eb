import Addresses
package import FoundationEssentials
import HTTP
package import JSON
package import Secrets

/// A successful token response (RFC 6749, 5.1; OpenID Connect Core 1.0, 3.1.3.3).
package struct TokenResponse: Sendable, Equatable {
    /// The longest accepted token; a longer one wouldn't fit into a line of the plugin protocol.
    package static let longestToken = 60_000

    /// The access token: a bearer token (RFC 6750), which is what authorities mean that don't say.
    package let accessToken: Secret
    /// Seconds until the access token expires; nil if the authority didn't say.
    package let expiresIn: Int?
    /// The refresh token; nil if the authority sent none.
    package let refreshToken: Secret?
    /// The ID token, unvalidated.
    package let idToken: Secret?
    /// The granted scope; nil if it equals the requested scope.
    package let scope: String?
    /// When the authority sent the response, by its own clock.
    package let sent: Date?
    private let answer: HTTPAnswer
    private let members: [String: JSONValue]

    /// Parses an answer; a member that isn't needed and is of another type than the standards' counts as absent.
    ///
    /// - Throws: the authority's refusal, or `unavailable` if the answer isn't JSON.
    init(_ answer: HTTPAnswer, from authority: String, stage: OAuthError.Stage) throws(OAuthError) {
        do throws(OAuthError) {
            try self.init(settled: answer, from: authority, stage: stage)
        } catch {
            var error = error
            error.hasMoved = Self.statusesOfNobody.contains(answer.status)
            throw error
        }
    }

    /// The statuses for a missing resource or method, or one that moved (RFC 9110, 15.4 and 15.5).
    private static let statusesOfNobody: Set = [301, 302, 303, 307, 308, 404, 405, 410]

    private init(settled answer: HTTPAnswer, from authority: String, stage: OAuthError.Stage) throws(OAuthError) {
        if let refusal = ErrorResponse(answer) { throw OAuthError(refusal, at: stage) }
        // While a device code is polled, only what is certain ends that.
        if stage != .device || answer.status != 400, let refusal = ErrorResponse(unnamed: answer) {
            throw OAuthError(refusal, at: stage)
        }
        if answer.status == 400, answer.body.isEmpty {
            var error = Self.unreadable(from: authority, status: answer.status)
            error.kind = .silent(stage)
            throw error
        }
        guard (200..<300).contains(answer.status), let members = answer.json?.members else {
            throw Self.unreadable(from: authority, status: answer.status)
        }
        let lifetime = members["expires_in"]?.boundedNumber
        guard lifetime != nil || (members["expires_in"] ?? .null) == .null else {
            throw Self.unreadable(from: authority, status: answer.status)
        }
        guard let token = members["access_token"]?.string, !token.isEmpty else {
            throw OAuthError(
                .noAccessToken, "\(authority) returned no access token",
                hint: "name a scope of the API that the token is for")
        }
        let type = members["token_type"]?.string ?? "bearer"
        guard type.lowercased() == "bearer" else {
            throw OAuthError(
                .broken, "\(authority) returned a token of an unsupported type: \(type.displayable(limit: 40))")
        }
        if let lifetime, lifetime < 0 {
            throw OAuthError(.broken, "\(authority) gave a token that ended before it began")
        }
        accessToken = try Self.secret(token, from: authority)
        refreshToken = try Self.optional(members["refresh_token"]?.string, from: authority)
        idToken = try Self.optional(members["id_token"]?.string, from: authority)
        // Some authorities send a list.
        scope = members["scope"]?.texts?.joined(separator: " ")
        sent = answer.date
        expiresIn = lifetime.map(Self.bounded)
        self.answer = answer
        self.members = members
    }

    /// Returns one of the response's members; nil if it has none of this name.
    package subscript(name: String) -> JSONValue? { members[name] }

    /// Returns the error for an answer that isn't a token response.
    private static func unreadable(from authority: String, status: Int) -> OAuthError {
        .unreadable(from: authority, not: "a token response (HTTP \(status))")
    }

    /// Returns a lifetime given in seconds, or as an end time since 1970; nil if there is neither.
    package func lifetime(_ seconds: JSONValue?, until time: JSONValue? = nil) -> Int? {
        seconds?.boundedNumber.map(Self.bounded)
            ?? time?.boundedNumber.map { answer.lifetime(until: Double($0)) }
    }

    private static func bounded(_ seconds: Int) -> Int {
        min(max(seconds, 0), HTTPAnswer.longestLifetime)
    }

    private static func optional(_ text: String?, from authority: String) throws(OAuthError) -> Secret? {
        guard let text, !text.isEmpty else { return nil }
        return try secret(text, from: authority)
    }

    private static func secret(_ text: String, from authority: String) throws(OAuthError) -> Secret {
        guard text.utf8.count <= longestToken, text.utf8.allSatisfy(\.isVisibleASCII) else {
            throw OAuthError(.broken, "\(authority) returned a token that is too long or not of printable characters")
        }
        return Secret(text)
    }
}

extension JSONValue {
    /// The whole number in a number or a decimal string, as authorities send either; nil for anything else.
    ///
    /// It is at most 2^53 in size, so that sums of several can't overflow; a fraction is rounded down.
    package var boundedNumber: Int? {
        let number: Double? =
            switch self {
            case .integer(let number): Double(number)
            case .number(let number): number
            case .string(let text): Self.number(text)
            case .null, .bool, .array, .object: nil
            }
        return number.map { Int(min(max($0.rounded(.down), -0x1p53), 0x1p53)) }
    }

    private static func number(_ text: String) -> Double? {
        let isDecimal = text.utf8.allSatisfy { "+-.0123456789Ee".utf8.contains($0) }
        return isDecimal ? Double(text).flatMap { $0.isFinite ? $0 : nil } : nil
    }

    /// The text of a string, or those of an array of nothing else; nil for anything else.
    package var texts: [String]? {
        if let string { return [string] }
        guard case .array(let values) = self else { return nil }
        let texts = values.compactMap(\.string)
        return texts.count == values.count ? texts : nil
    }

    /// Whether each of these members is a text, if it is there.
    package func hasTexts(_ names: String...) -> Bool {
        names.allSatisfy { (self[$0] ?? .null) == .null || self[$0]?.string != nil }
    }
}

/// The value of the `scope` parameter (RFC 6749, 3.3).
package enum ScopeText {
    /// Splits it at spaces and any characters that scopes can't contain; removes duplicates.
    package static func split(_ text: String) -> [String] {
        var seen: Set<String> = []
        return text.unicodeScalars.split { !(0x21...0x7E).contains($0.value) || $0 == "\"" || $0 == "\\" }
            .map(String.init).filter { $0.utf8.count <= 1_024 && seen.insert($0).inserted }
    }

    /// Whether a scope is OpenID Connect's own, which an issuer grants by what it says of the account, and needn't
    /// repeat (OpenID Connect Core 1.0, 5.4 and 11).
    package static func isOpenID(_ scope: String) -> Bool {
        ["openid", "profile", "email", "address", "phone", "offline_access"].contains(scope)
    }
}
