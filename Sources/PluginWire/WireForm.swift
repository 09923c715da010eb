import Addresses
package import Secrets

/// The form of a value in the protocol: its length and its bytes.
///
/// The limits are far above any real value; they keep a broken or hostile peer from filling memory or a terminal.
package struct WireForm: Sendable {
    package let limit: Int
    package let allows: @Sendable (String) -> Bool

    /// - Parameters:
    ///   - limit: The greatest length, in bytes.
    ///   - allows: Whether a value within the limit is valid.
    package init(limit: Int, allows: @escaping @Sendable (String) -> Bool) {
        self.limit = limit
        self.allows = allows
    }

    package func accepts(_ value: String) -> Bool {
        value.utf8.count <= limit && allows(value)
    }

    /// Tokens, IDs and protocol names: visible ASCII (RFC 6749, appendix A, VSCHAR without the space).
    package static func token(_ limit: Int) -> WireForm {
        WireForm(limit: limit) { value in
            !value.isEmpty && value.utf8.allSatisfy(\.isVisibleASCII)
        }
    }

    /// A secret token, limited only by the length of a line.
    package static let secret = token(65_535)
    /// A scope (RFC 6749, 3.3).
    package static let scope = WireForm(limit: 1024) { value in
        !value.isEmpty && value.utf8.allSatisfy { $0.isVisibleASCII && $0 != 0x22 && $0 != 0x5C }
    }
    /// Names of users and tenants: any text without control characters.
    package static func text(_ limit: Int) -> WireForm {
        WireForm(limit: limit) { value in
            // Looking up Unicode properties is slow, and most texts are ASCII.
            value.utf8.allSatisfy { (0x20...0x7E).contains($0) } || value.unicodeScalars.allSatisfy { !$0.isControl }
        }
    }
    /// A plugin's memo: any text on one line.
    package static let memo = text(16_384)
    /// Messages, which are made displayable rather than refused.
    package static let message = WireForm(limit: 16_384) { _ in true }
    /// base64url, with or without padding.
    package static let base64URL = WireForm(limit: 16_384) { Base64URL.isEncoded($0) }
    /// A place in a program's output: `=TEXT`, `.a.b[id=x]`, `line N` or `NAME:`.
    package static let place = WireForm(limit: 256) { value in
        WireForm.text(256).accepts(value) && isPlace(value)
    }
    private static func isPlace(_ text: String) -> Bool {
        text.hasPrefix("=") || text.hasPrefix(".") || text.hasSuffix(":")
            || text.hasPrefix("line ") && Int(text.dropFirst(5)).map { $0 > 0 } == true
    }
    /// `host` or `host:port`, in lower case.
    package static let host = WireForm(limit: 261) { HostName.isCanonical($0) }
    /// A page that may be opened in a browser: https, or http on this machine.
    package static let page = WireForm(limit: 32_768) { text in
        StrictURL(web: text).map { $0.scheme == "https" || $0.isLoopbackHTTP } ?? false
    }
    /// A page on the network: https only.
    package static let securePage = WireForm(limit: 4096) { StrictURL(https: $0) != nil }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: false
        }
    }
}

extension ProtocolError {
    /// What a plugin's message has, in words; they contain only keys, never values.
    package var text: String {
        switch self {
        case .malformedLine: "a line that is not key=value"
        case .forbiddenByte: "a forbidden byte"
        case .lineTooLong: "a line of more than 64 KiB"
        case .inputTooLong: "more than 4 MiB"
        case .notUTF8: "text that is not UTF-8"
        case .missing(let key): "no `\(key)`"
        case .invalid(let key): "an invalid `\(key)`\(Self.forms[key].map { ": it must be \($0)" } ?? "")"
        case .unexpected(let key): "an unexpected `\(key)`"
        }
    }

    /// What the values must be that are most often wrong.
    private static let forms: [String: String] = {
        let (word, seconds) = ("visible ASCII without blanks", "a whole number of seconds")
        let page = "an https URL, or http on localhost, 127.0.0.1 or [::1], without blanks"
        let tokens = ["access_token", "refresh_token", "id_token", "realm", "home_account_id", "home_realm[]"]
        let times = ["expires_in", "refresh_in", "ext_expires_in", "retry_after"]
        var forms = [
            "url": page, "verification_uri": "an https URL without blanks",
            "verification_uri_complete": "an https URL without blanks",
            "environment": "HOST or HOST:PORT in lower case, without https://",
            "scope[]": "one scope in each line, without blanks, quotes or backslashes; at most 256",
            "field[]": "NAME=VALUE in each line, NAME of letters, digits and _; at most 64",
            "user_code": "at most 64 bytes of \(word)", "basic_username": "a text without a colon",
            "username": "a text without control characters, and in `lookup` without a colon",
            "secret": "a text without control characters", "keep_for": "\(seconds), at most 86400",
            "memo_expires_in": "\(seconds), from 1 to \(Lifetime.ofMemo.upperBound)",
        ]
        for key in ["message", "hint"] { forms[key] = "at most \(WireForm.message.limit) bytes" }
        for key in tokens { forms[key] = word }
        forms["home_realm[]"]? += ", at most 16"
        for key in times { forms[key] = "\(seconds) from now on, at most ten years" }
        forms["expires_in"]? += ", or of a code, from 1 to 86400"
        return forms
    }()
}

/// Reads the keys of one message and checks each value; other keys are ignored.
package struct WireReader {
    package let block: Attributes
    private let asked = Asked()

    /// The keys that were read.
    private final class Asked {
        var keys: Set<String> = ["event"]
    }

    /// The keys that were read, whether they are there or not.
    package var known: Set<String> { asked.keys }

    package init(_ block: Attributes) {
        self.block = block
    }

    /// Returns the value; nil if the key is missing or empty.
    package func optional(_ key: String, _ form: WireForm) throws(ProtocolError) -> String? {
        asked.keys.insert(key)
        guard let value = block[key], !value.isEmpty else { return nil }
        guard form.accepts(value) else { throw .invalid(key) }
        return value
    }

    package func required(_ key: String, _ form: WireForm) throws(ProtocolError) -> String {
        guard let value = try optional(key, form) else { throw .missing(key) }
        return value
    }

    package func secret(_ key: String) throws(ProtocolError) -> Secret? {
        try optional(key, .secret).map { Secret($0) }
    }

    package func message(_ key: String) throws(ProtocolError) -> String? {
        try optional(key, .message)?.displayable(limit: 2000)
    }

    package func list(_ key: String, _ form: WireForm, limit: Int = 256) throws(ProtocolError) -> [String] {
        asked.keys.insert(key)
        let values = block.list(key)
        guard values.count <= limit, values.allSatisfy(form.accepts) else { throw .invalid(key) }
        return values
    }

    /// A value that decides nothing: one that can't be used is as good as none.
    package func diagnostic(_ key: String, _ form: WireForm) -> String? {
        asked.keys.insert(key)
        return block[key].flatMap { form.accepts($0) ? $0 : nil }
    }

    /// The values of a list that decides nothing, as far as they can be used.
    package func diagnostics(_ key: String, _ form: WireForm, limit: Int = 256) -> [String] {
        asked.keys.insert(key)
        return Array(block.list(key).lazy.filter(form.accepts).prefix(limit))
    }

    /// Returns a number in plain digits; nil if the key is missing or empty.
    package func number(_ key: String, in range: ClosedRange<Int>) throws(ProtocolError) -> Int? {
        guard let value = try optional(key, .token(20)) else { return nil }
        guard value.utf8.allSatisfy(\.isDigit), let number = Int(value), range.contains(number) else {
            throw .invalid(key)
        }
        return number
    }
}

/// Ranges of times in the protocol.
package enum Lifetime {
    /// Lifetimes in seconds: up to ten years, more than any authority allows.
    package static let range = 0...315_360_000
    /// Times in seconds since 1970: up to the year 9999.
    package static let ofClocks = 0...253_402_300_799
    /// How long the host waits for an answer, in milliseconds.
    package static let ofRequest = 1...86_400_000
    /// How long the host stores a plugin's memo, in seconds: up to a month.
    package static let ofMemo = 1...2_592_000
}

/// Writes the keys of one message, leaving out nil and empty values.
package struct WireWriter {
    package private(set) var block = Attributes()

    package mutating func put(_ key: String, _ value: String?) throws(ProtocolError) {
        guard let value, !value.isEmpty else { return }
        try block.append(key, value)
    }

    package mutating func put(_ key: String, _ value: Secret?) throws(ProtocolError) {
        try put(key, value?.reveal())
    }

    package mutating func put(_ key: String, _ value: Int?) throws(ProtocolError) {
        try put(key, value.map { String($0) })
    }

    package mutating func put(_ key: String, list values: [String]) throws(ProtocolError) {
        for value in values { try put(key, value) }
    }

    /// Writes a text for users, which may have come from a server and contain anything.
    package mutating func put(_ key: String, message: String?) throws(ProtocolError) {
        try put(key, message?.displayable(limit: 2000))
    }
}

extension Attributes {
    /// The message with the blank line that ends it.
    package var terminated: [UInt8] { encoded + [UInt8(ascii: "\n")] }
}

/// Host names and IPv4 addresses in the form in which they are compared: lower case, with a port if it isn't the
/// default.
package enum HostName {
    /// Whether the text is `host` or `host:port` in lower case.
    package static func isCanonical(_ text: String) -> Bool {
        guard let host = RequestHost(text), !host.isIPv6 else { return false }
        return host.text.isSame(as: text)
    }
}
