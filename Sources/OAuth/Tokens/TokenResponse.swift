package import FoundationEssentials
package import Secrets

/// A successful answer of the token endpoint (RFC 6749, 5.1; OpenID Connect Core 1.0, 3.1.3.3).
package struct TokenResponse: Sendable, Equatable {
    /// More would not fit the line that it is handed on in.
    private static let longestToken = 60_000

    /// `token_type` as it came; nil if the authority didn't say.
    package let tokenType: String?
    /// The access token; a bearer token (RFC 6750).
    package let accessToken: Secret
    /// Seconds until it expires; nil if the authority didn't say.
    package let expiresIn: Int?
    /// The refresh token.
    package let refreshToken: Secret?
    /// The ID token; nothing of it is checked.
    package let idToken: Secret?
    /// Nil if the authority didn't say: then what was asked for was granted.
    package let scope: String?
    /// When the authority sent it, by its own clock.
    package let sent: Date?
    private let answer: HTTPAnswer

    /// Reads an answer.
    ///
    /// - Throws: what the authority refused with, or `unavailable` if the answer is no JSON.
    init(_ answer: HTTPAnswer, from authority: String, stage: OAuthError.Stage) throws(OAuthError) {
        do throws(OAuthError) {
            try self.init(settled: answer, from: authority, stage: stage)
        } catch {
            var error = error
            error.hasMoved = Self.statusesOfNobody.contains(answer.status)
            throw error
        }
    }

    /// No such resource, no such method there, or somewhere else (RFC 9110, 15.4 and 15.5).
    private static let statusesOfNobody: Set = [301, 302, 303, 307, 308, 404, 405, 410]

    private init(settled answer: HTTPAnswer, from authority: String, stage: OAuthError.Stage) throws(OAuthError) {
        if let refusal = ErrorResponse(answer) { throw OAuthError(refusal, at: stage) }
        if answer.status == 400, answer.body.isEmpty {
            var error = Self.unreadable(from: authority, status: answer.status)
            error.kind = .silent(stage)
            throw error
        }
        guard answer.status == 200, let members = answer.json(Members.self) else {
            throw Self.unreadable(from: authority, status: answer.status)
        }
        guard let token = members.accessToken, !token.isEmpty else {
            throw OAuthError(
                .noAccessToken, "\(authority) returned no access token",
                hint: "name a scope of the API that the token is for")
        }
        guard members.tokenType.map({ $0.lowercased() == "bearer" }) ?? true else {
            throw OAuthError(
                .broken,
                "\(authority) returned a token of an unsupported type: "
                    + (members.tokenType ?? "").displayable(limit: 40))
        }
        tokenType = members.tokenType
        accessToken = try Self.secret(token, from: authority)
        refreshToken = try Self.optional(members.refreshToken, from: authority)
        idToken = try Self.optional(members.idToken, from: authority)
        scope = members.scope
        sent = answer.date
        expiresIn = members.expiresIn.map { Self.bounded($0.value) }
        self.answer = answer
    }

    /// The answer's members as a type that has further ones; nil if they aren't of its types.
    package func members<Members: Decodable>(_ type: Members.Type) -> Members? {
        answer.json(type)
    }

    /// The error for an answer that isn't one.
    package static func unreadable(from authority: String, status: Int = 200) -> OAuthError {
        OAuthError(
            .unavailable, "\(authority) answered with something that is not a token response (HTTP \(status))",
            hint: "check that no proxy or network sign-in page is in between")
    }

    /// A lifetime that was told in seconds, or until a time since 1970; nil if neither was.
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
        guard text.utf8.count <= longestToken, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw OAuthError(.broken, "\(authority) returned a token that is too long or not of printable characters")
        }
        return Secret(text)
    }

    private struct Members: Decodable {
        var accessToken: String?
        var tokenType: String?
        var refreshToken: String?
        var idToken: String?
        var scope: String?
        var expiresIn: LenientNumber?

        enum CodingKeys: String, CodingKey {
            case accessToken = "access_token"
            case tokenType = "token_type"
            case refreshToken = "refresh_token"
            case idToken = "id_token"
            case scope
            case expiresIn = "expires_in"
        }
    }
}
