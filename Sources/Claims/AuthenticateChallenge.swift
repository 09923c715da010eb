import Addresses

/// One challenge of a `WWW-Authenticate` header (RFC 9110, 11.6.1).
public struct AuthenticateChallenge: Sendable, Equatable {
    /// The authentication scheme, lower-cased.
    public let scheme: String
    /// The text after the scheme if it isn't parameters, as for `Negotiate`.
    public internal(set) var token68: String?
    /// The parameters by lower-cased name; if a name occurs several times, the first one counts.
    public internal(set) var parameters: [String: String] = [:]

    init(scheme: String) {
        self.scheme = scheme.lowercased()
    }

    /// The highest number of challenges that are read from one response.
    public static let mostChallenges = 64
    /// The highest number of parameters that are read from one challenge.
    public static let mostParameters = 64

    /// Parses the values of a response's `WWW-Authenticate` headers, in order.
    ///
    /// Servers build these by hand, so malformed parts are skipped and the rest counts: parameters may lack commas
    /// between them, or quotes around a value. Nothing that a server sends is an error here.
    public static func read(_ headers: [String]) -> [AuthenticateChallenge] {
        var challenges: [AuthenticateChallenge] = []
        for header in headers {
            var scanner = ChallengeScanner(header)
            scanner.read(into: &challenges)
            if challenges.count == mostChallenges { break }
        }
        return challenges
    }
}

/// Splits one header value into challenges, in a single pass.
private struct ChallengeScanner {
    private var rest: Substring.UTF8View

    init(_ header: String) {
        rest = header[...].utf8
    }

    mutating func read(into challenges: inout [AuthenticateChallenge]) {
        // A parameter belongs to the last challenge in its own header, never to one in an earlier header.
        var isInChallenge = false
        while true {
            skip { $0.isBlank || $0 == UInt8(ascii: ",") }
            guard !rest.isEmpty else { return }
            guard let name = take(\.isTokenByte) else {
                // No name begins here: skip this, including a whole quoted string.
                if takeQuoted() == nil { skip { !$0.endsBareValue } }
                continue
            }
            if let value = takeValue() {
                guard isInChallenge, let last = challenges.indices.last else { continue }
                challenges[last].add(name.lowercased(), value)
            } else {
                guard challenges.count < AuthenticateChallenge.mostChallenges else { return }
                challenges.append(AuthenticateChallenge(scheme: name))
                challenges[challenges.count - 1].token68 = takeToken68()
                isInChallenge = true
            }
        }
    }

    /// Reads the value after `=`; nil, without reading anything, if there is no `=`.
    private mutating func takeValue() -> String? {
        let start = rest
        skip(\.isBlank)
        guard rest.first == UInt8(ascii: "=") else {
            rest = start
            return nil
        }
        rest.removeFirst()
        skip(\.isBlank)
        return takeQuoted() ?? take { !$0.endsBareValue } ?? ""
    }

    /// Reads a quoted string and resolves its escapes; nil if none begins here, empty if it is unterminated.
    private mutating func takeQuoted() -> String? {
        guard rest.first == UInt8(ascii: "\"") else { return nil }
        rest.removeFirst()
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return String(validating: bytes, as: UTF8.self) ?? "" }
            bytes.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
        }
        return ""
    }

    /// Reads the token68 after a scheme; nil, without reading anything, if a parameter, another scheme or nothing
    /// follows.
    private mutating func takeToken68() -> String? {
        let start = rest
        skip(\.isBlank)
        if let text = take(\.isToken68Byte) {
            let padding = take { $0 == UInt8(ascii: "=") } ?? ""
            skip(\.isBlank)
            // `a=` at the end is ambiguous; RFC 9110 calls it a token68.
            if rest.isEmpty || rest.first == UInt8(ascii: ",") { return text + padding }
        }
        rest = start
        return nil
    }

    private mutating func skip(_ matches: (UInt8) -> Bool) {
        rest = rest.drop(while: matches)
    }

    private mutating func take(_ matches: (UInt8) -> Bool) -> String? {
        let taken = rest.prefix(while: matches)
        guard !taken.isEmpty else { return nil }
        rest = rest[taken.endIndex...]
        return String(taken)
    }
}

extension AuthenticateChallenge {
    fileprivate mutating func add(_ name: String, _ value: String) {
        guard parameters.count < Self.mostParameters, parameters[name] == nil else { return }
        parameters[name] = value
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    /// Whether the byte ends a value without quotes.
    fileprivate var endsBareValue: Bool { isBlank || self == UInt8(ascii: ",") }

    /// RFC 9110, 5.6.2.
    fileprivate var isTokenByte: Bool { isAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(self) }

    /// Whether the byte may occur in a token68 (RFC 9110, 11.2).
    fileprivate var isToken68Byte: Bool { isAlphanumeric || "-._~+/".utf8.contains(self) }
}
