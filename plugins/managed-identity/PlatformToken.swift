import Addresses
import FoundationEssentials
package import HTTP
package import JSON
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

/// The time formats of the platforms: each has its own, and some have several.
package enum PlatformTime {
    /// Smaller numbers (before 2001) are relative to now; no platform is that old.
    private static let firstAbsolute = 978_307_200

    /// Returns when a token expires, in seconds since 1970; nil if the members don't say.
    ///
    /// `expires_in` takes precedence because it doesn't depend on the platform's clock; it may be present but empty.
    package static func end(of members: [String: JSONValue], now: Int) -> Int? {
        if let seconds = members["expires_in"]?.wholeNumber { return sum(now, seconds) }
        guard let text = members["expires_on"]?.text.map({ String($0.trimmed()) }) else { return nil }
        guard let number = JSONValue.string(text).wholeNumber else { return seconds(text) }
        return number < firstAbsolute ? sum(now, number) : number
    }

    private static func sum(_ now: Int, _ seconds: Int) -> Int {
        let (sum, isOver) = now.addingReportingOverflow(seconds)
        return isOver ? (seconds > 0 ? .max : .min) : sum
    }

    /// Returns the seconds since 1970 for a date with a time; nil if the text isn't one.
    ///
    ///     2023-11-14T23:13:20.0000000+00:00
    ///     11/14/2023 11:13:20 PM +00:00
    ///     11/14/2023 23:13:20 +00:00
    package static func seconds(_ text: String) -> Int? {
        let words = text.lowercased().replacing(bytes: "t", with: " ").pieces(between: " ").map(String.init)
        guard words.count >= 2, let day = day(words[0]) else { return nil }
        var rest = words.dropFirst().joined(separator: " ")
        let zone = cutZone(&rest)
        guard let zone, let time = time(rest) else { return nil }
        return day * 86_400 + time - zone
    }

    /// Removes the UTC offset from the end and returns it in seconds, 0 if there is none; nil if it is invalid.
    private static func cutZone(_ text: inout String) -> Int? {
        if let last = text.utf8.last, last | 0x20 == UInt8(ascii: "z") {
            text = String(text.utf8.dropLast()) ?? ""
            return 0
        }
        guard let sign = text.utf8.lastIndex(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }) else {
            return 0
        }
        let digits = text.utf8[sign...].dropFirst().filter { $0 != UInt8(ascii: ":") }
        guard digits.count == 4 || digits.count == 2, let number = number(String(decoding: digits, as: UTF8.self))
        else { return nil }
        let (hours, minutes) = digits.count == 4 ? (number / 100, number % 100) : (number, 0)
        guard hours <= 14, minutes < 60 else { return nil }
        let offset = hours * 3600 + minutes * 60
        let isBehind = text.utf8[sign] == UInt8(ascii: "-")
        text = String(text[..<sign].trimmed())
        return isBehind ? -offset : offset
    }

    /// Returns the seconds since midnight for a 24-hour time, or a 12-hour time with `AM` or `PM`; fractions are
    /// dropped.
    private static func time(_ text: String) -> Int? {
        let words = text.pieces(between: " ").map { $0.lowercased() }
        guard let clock = words.first, words.count <= 2 else { return nil }
        let parts = clock.pieces(between: ":", omittingEmpty: false)
        guard parts.count == 3, let hour = number(parts[0]), let minute = number(parts[1]),
            let second = number(parts[2].cut(at: ".")?.0 ?? parts[2]), minute < 60, second <= 60
        else { return nil }
        let isHalf = words.count == 2
        guard isHalf ? (1...12).contains(hour) && ["am", "pm"].contains(words[1]) : hour < 24 else { return nil }
        let hours = isHalf ? hour % 12 + (words[1] == "pm" ? 12 : 0) : hour
        return hours * 3600 + minute * 60 + min(second, 59)
    }

    /// Returns the days since 1970 for `YEAR-MONTH-DAY` or `MONTH/DAY/YEAR`.
    private static func day(_ text: String) -> Int? {
        let dashed = text.pieces(between: "-", omittingEmpty: false).map { number($0) }
        let slashed = text.pieces(between: "/", omittingEmpty: false).map { number($0) }
        let parts = dashed.count == 3 ? dashed : slashed.count == 3 ? [slashed[2], slashed[0], slashed[1]] : []
        guard parts.count == 3, let year = parts[0], let month = parts[1], let day = parts[2],
            (1970...9999).contains(year)
        else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let date = DateComponents(year: year, month: month, day: day)
        guard date.isValidDate(in: calendar) else { return nil }
        return calendar.date(from: date).map { Int($0.timeIntervalSince1970) / 86_400 }
    }

    /// Parses a number of digits only; Int's initializer accepts a sign, too.
    private static func number(_ text: some StringProtocol) -> Int? {
        text.utf8.count <= 9 && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }
}
