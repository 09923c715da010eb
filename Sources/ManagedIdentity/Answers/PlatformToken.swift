import Addresses
import JSON
package import OAuth
package import Secrets

/// A token that a platform gave.
package struct PlatformToken: Sendable, Equatable {
    /// Longest lifetime believed, ten years.
    private static let longestLifetime = 315_360_000
    /// More would not fit the line that it is handed on in.
    private static let longestToken = 60_000
    /// The least seconds that a token lives of which another is got at half its time.
    private static let longLifetime = 7_200

    /// The token.
    package let token: Secret
    /// Seconds until it expires.
    package let expiresIn: Int
    /// Seconds after which another should be got; nil if it doesn't matter before the end.
    package let refreshIn: Int?
    /// `token_type` as it came.
    package let tokenType: String?

    /// Reads an answer of status 200.
    ///
    /// - Parameters:
    ///   - answer: the answer.
    ///   - source: who gave it.
    ///   - demand: what was asked for.
    ///   - now: seconds since 1970.
    /// - Throws: `invalidResponse` if it is no token, is another's, or has no end; `unavailable` if it has ended, or somebody else
    ///   answered.
    package init(
        _ answer: HTTPAnswer, from source: any TokenSource, to demand: Demand, now: Int
    ) throws(IdentityError) {
        let who = source.platform.words
        guard let members = Self.members(of: answer) else { throw Self.unreadable(answer, who) }
        guard let text = members["access_token"]?.string, let token = text.plain(limit: Self.longestToken) else {
            throw Self.invalid("\(who) returned no usable token")
        }
        try source.check(members, for: demand)
        guard let end = PlatformTime.end(of: members, now: now) else {
            throw Self.invalid("\(who) doesn't say when its token ends")
        }
        guard end > now else {
            throw IdentityError(
                .unavailable, "\(who) gave a token that has ended already", hint: "check this computer's clock")
        }
        self.token = Secret(token)
        let lifetime = min(end - now, Self.longestLifetime)
        expiresIn = lifetime
        refreshIn = Self.refresh(members["refresh_in"]?.wholeNumber, lifetime)
        tokenType = members["token_type"]?.string?.plain(limit: 64)
    }

    /// The platform's own time to get another, or half of a long life: roles that were given meanwhile show in a new token only.
    private static func refresh(_ told: Int?, _ lifetime: Int) -> Int? {
        if let told, (1...lifetime).contains(told) { return told }
        return lifetime >= longLifetime ? lifetime / 2 : nil
    }

    /// The members of an answer; nil if it is no JSON object.
    static func members(of answer: HTTPAnswer) -> [String: JSONValue]? {
        answer.text.flatMap { JSONValue(bytes: $0.utf8) }?.members
    }

    /// A page, or other text, is of somebody else on the way; JSON that breaks off is of the service.
    private static func unreadable(_ answer: HTTPAnswer, _ who: String) -> IdentityError {
        guard answer.text?.trimmed(of: " \t\r\n").utf8.first == UInt8(ascii: "{") else {
            return IdentityError(
                .unavailable, "something else answers in the place of \(who)",
                hint: "check that no proxy or network sign-in page is in between")
        }
        return invalid("\(who) gave an answer that breaks off or is garbled")
    }

    private static func invalid(_ message: String) -> IdentityError {
        IdentityError(.invalidResponse, message, hint: "try again; if it stays so, check the platform's agent")
    }
}
