import Addresses

/// One challenge of a `WWW-Authenticate` header (RFC 9110, 11.6.1).
public struct AuthenticateChallenge: Sendable, Equatable {
    /// The authentication scheme, lower-cased.
    public let scheme: String
    /// What follows the scheme if it isn't parameters, as for `Negotiate`.
    public internal(set) var token68: String?
    /// The parameters by lower-cased name; of two with one name the first.
    public internal(set) var parameters: [String: String] = [:]

    init(scheme: String) {
        self.scheme = scheme.lowercased()
    }

    /// The most challenges that are read of one response.
    public static let mostChallenges = 64
    /// The most parameters that are read of one challenge.
    public static let mostParameters = 64

    /// Reads the values of a response's `WWW-Authenticate` headers, in order.
    ///
    /// Servers write these by hand, so what isn't well formed is skipped and the rest counts: parameters without commas
    /// between them, or with a value that should have been quoted. Nothing a server sends is an error here.
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

/// Cuts one header value into challenges, in one pass.
private struct ChallengeScanner {
    private var rest: Substring.UTF8View

    init(_ header: String) {
        rest = header[...].utf8
    }

    mutating func read(into challenges: inout [AuthenticateChallenge]) {
        // A parameter belongs to the last challenge of its own header, never to one of a header before.
        var isInChallenge = false
        while true {
            skip { $0.isBlank || $0 == UInt8(ascii: ",") }
            guard !rest.isEmpty else { return }
            guard let name = take(\.isTokenByte) else {
                // No name begins here: drop what it is, with the whole of a quoted string.
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

    /// The value after `=`; nil, and nothing taken, if there is no `=`.
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

    /// The content of a quoted string, its escapes undone; nil if none begins here, empty if it doesn't end.
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

    /// The token68 after a scheme; nil, and nothing taken, if a parameter, a further scheme or nothing follows.
    private mutating func takeToken68() -> String? {
        let start = rest
        skip(\.isBlank)
        if let text = take(\.isToken68Byte) {
            let padding = take { $0 == UInt8(ascii: "=") } ?? ""
            skip(\.isBlank)
            // `a=` at the end may be either; RFC 9110 calls it a token68.
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

    /// Where a value without quotes is over.
    fileprivate var endsBareValue: Bool { isBlank || self == UInt8(ascii: ",") }

    /// RFC 9110, 5.6.2.
    fileprivate var isTokenByte: Bool { isAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(self) }

    /// RFC 9110, 11.2.
    fileprivate var isToken68Byte: Bool { isAlphanumeric || "-._~+/".utf8.contains(self) }
}
