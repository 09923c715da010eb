import Addresses
package import HTTP
import JSON
import OAuth
package import Secrets

/// A token from a platform.
package struct PlatformToken: Sendable, Equatable {
    /// The minimum lifetime, in seconds, of tokens that are renewed after half of it.
    private static let longLifetime = 7_200

    /// The access token.
    package let token: Secret
    /// Seconds until the token expires.
    package let expiresIn: Int
    /// Seconds after which the token should be renewed; nil if that isn't necessary before it expires.
    package let refreshIn: Int?
    /// `token_type`, unchanged.
    package let tokenType: String?

    /// Parses an answer with status 200.
    ///
    /// - Parameters:
    ///   - answer: The answer.
    ///   - source: The service that gave it.
    ///   - demand: The identity and resource that were requested.
    ///   - now: The current time in seconds since 1970.
    /// - Throws: `invalidResponse` if it isn't a token, belongs to another identity, or has no expiry; `unavailable` if
    ///   it has expired, or another server answered.
    package init(
        _ answer: HTTPAnswer, from source: any TokenSource, to demand: Demand, now: Int
    ) throws(IdentityError) {
        let who = source.platform.words
        guard let members = Self.members(of: answer) else { throw Self.unreadable(answer, who) }
        guard let text = members["access_token"]?.string, let token = text.plain(limit: TokenResponse.longestToken)
        else {
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
        let lifetime = min(end - now, HTTPAnswer.longestLifetime)
        expiresIn = lifetime
        refreshIn = Self.refresh(members["refresh_in"]?.wholeNumber, lifetime)
        tokenType = members["token_type"]?.string?.plain(limit: 64)
    }

    /// Returns the platform's own renewal time, or half of a long lifetime: roles assigned in the meantime appear only
    /// in a new token.
    private static func refresh(_ told: Int?, _ lifetime: Int) -> Int? {
        if let told, (1...lifetime).contains(told) { return told }
        return lifetime >= longLifetime ? lifetime / 2 : nil
    }

    /// Returns the members of an answer; nil if it isn't a JSON object.
    static func members(of answer: HTTPAnswer) -> [String: JSONValue]? {
        answer.text.flatMap { JSONValue(bytes: $0.utf8) }?.members
    }

    /// Returns the error for an unreadable answer: HTML or other text comes from another server on the way, truncated
    /// JSON from the service.
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
