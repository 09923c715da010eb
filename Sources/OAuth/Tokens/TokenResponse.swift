import Addresses
package import FoundationEssentials
import HTTP
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
        guard (200..<300).contains(answer.status), let members = answer.json(Members.self) else {
            throw Self.unreadable(from: authority, status: answer.status)
        }
        guard let token = members.access_token, !token.isEmpty else {
            throw OAuthError(
                .noAccessToken, "\(authority) returned no access token",
                hint: "name a scope of the API that the token is for")
        }
        guard members.token_type.map({ $0.lowercased() == "bearer" }) ?? true else {
            throw OAuthError(
                .broken,
                "\(authority) returned a token of an unsupported type: "
                    + (members.token_type ?? "").displayable(limit: 40))
        }
        if let told = members.expires_in?.value, told < 0 {
            throw OAuthError(.broken, "\(authority) gave a token that ended before it began")
        }
        accessToken = try Self.secret(token, from: authority)
        refreshToken = try Self.optional(members.refresh_token, from: authority)
        idToken = try Self.optional(members.id_token, from: authority)
        scope = members.scope?.text
        sent = answer.date
        expiresIn = members.expires_in.map { Self.bounded($0.value) }
        self.answer = answer
    }

    /// Decodes the answer's members as a type with additional members; nil if their types don't match.
    package func members<Members: Decodable>(_ type: Members.Type) -> Members? {
        answer.json(type)
    }

    /// Returns the error for an answer that isn't a token response.
    private static func unreadable(from authority: String, status: Int) -> OAuthError {
        .unreadable(from: authority, not: "a token response (HTTP \(status))")
    }

    /// Returns a lifetime given in seconds, or as an end time since 1970; nil if there is neither.
    package func lifetime(_ seconds: LenientNumber?, until time: LenientNumber? = nil) -> Int? {
        if let seconds { return Self.bounded(seconds.value) }
        return time.map { answer.lifetime(until: Double($0.value)) }
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

    private struct Members: Decodable {
        @Lenient var access_token: String?
        @Lenient var token_type: String?
        @Lenient var refresh_token: String?
        @Lenient var id_token: String?
        @Lenient var scope: ScopeText.Member?
        var expires_in: LenientNumber?
    }
}

/// A whole number that an authority may send as a number or as a string.
package struct LenientNumber: Decodable, Sendable, Equatable {
    /// The number, at most 2^53 in size, so that sums of several can't overflow.
    package let value: Int

    /// Decodes either form; a fraction is rounded down.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let number =
            if let number = try? container.decode(Double.self) {
                number
            } else {
                Self.number(try container.decode(String.self))
            }
        guard let number else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a number")
        }
        value = Int(min(max(number.rounded(.down), -0x1p53), 0x1p53))
    }

    private static func number(_ text: String) -> Double? {
        let isDecimal = text.utf8.allSatisfy { "+-.0123456789Ee".utf8.contains($0) }
        return isDecimal ? Double(text).flatMap { $0.isFinite ? $0 : nil } : nil
    }
}

/// A member of an answer that counts as absent if it is missing or of another type.
@propertyWrapper
package struct Lenient<Value: Decodable & Sendable & Equatable>: Decodable, Sendable, Equatable {
    /// The member's value; nil if it is absent.
    package var wrappedValue: Value?

    /// Creates a member with a value.
    package init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    /// Decodes the value; any other type makes nil.
    package init(from decoder: any Decoder) { wrappedValue = try? Value(from: decoder) }
}

extension KeyedDecodingContainer {
    /// Decodes a member that may be missing.
    package func decode<Value>(_ type: Lenient<Value>.Type, forKey key: Key) throws -> Lenient<Value> {
        try decodeIfPresent(type, forKey: key) ?? Lenient(wrappedValue: nil)
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

    /// The value of a `scope` member, which some authorities send as a list.
    struct Member: Decodable, Sendable, Equatable {
        let text: String

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            text = try (try? container.decode(String.self)) ?? container.decode([String].self).joined(separator: " ")
        }
    }
}
