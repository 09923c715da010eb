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

    /// The claims of a claims challenge, decoded if they are in base64, as Entra sends them.
    fileprivate var claims: String? {
        guard parameters["error"]?.lowercased() == "insufficient_claims", let text = parameters["claims"], !text.isEmpty
        else { return nil }
        // A JSON object's brace isn't valid in base64, so there is no ambiguity.
        return Base64URL.decode(text).flatMap { String(validating: $0, as: UTF8.self) } ?? text
    }

    fileprivate var authority: String? {
        let named = ["authorization_uri", "authorization", "authority"].lazy.compactMap { parameters[$0] }
        guard let text = named.first(where: { !$0.isEmpty }), let url = StrictURL(web: text) else { return nil }
        return "\(url.scheme)://" + ([url.host.urlText[...]] + url.segments).joined(separator: "/")
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
            guard let name = scan(\.isTokenByte) else {
                // No name begins here: skip this, including a whole quoted string.
                if scanQuoted() == nil { skip { !$0.endsBareValue } }
                continue
            }
            if let value = scanValue() {
                guard isInChallenge, let last = challenges.indices.last else { continue }
                challenges[last].add(name.lowercased(), value)
            } else {
                guard challenges.count < AuthenticateChallenge.mostChallenges else { return }
                challenges.append(AuthenticateChallenge(scheme: name))
                challenges[challenges.count - 1].token68 = scanToken68()
                isInChallenge = true
            }
        }
    }

    /// Reads the value after `=`; nil, without reading anything, if there is no `=`.
    private mutating func scanValue() -> String? {
        let start = rest
        skip(\.isBlank)
        guard rest.first == UInt8(ascii: "=") else {
            rest = start
            return nil
        }
        rest.removeFirst()
        skip(\.isBlank)
        return scanQuoted() ?? scan { !$0.endsBareValue } ?? ""
    }

    /// Reads a quoted string and resolves its escapes; nil if none begins here, empty if it is unterminated.
    private mutating func scanQuoted() -> String? {
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
    private mutating func scanToken68() -> String? {
        let start = rest
        skip(\.isBlank)
        if let text = scan(\.isToken68Byte) {
            let padding = scan { $0 == UInt8(ascii: "=") } ?? ""
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

    private mutating func scan(_ matches: (UInt8) -> Bool) -> String? {
        let found = rest.prefix(while: matches)
        guard !found.isEmpty else { return nil }
        rest = rest[found.endIndex...]
        return String(found)
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

/// What a server's challenges say about the token that it needs.
///
/// None of it is trusted: it can't choose the resource of the host, nor the authority to ask.
public struct ClaimsChallenge: Sendable, Equatable {
    /// The claims that the server asks for, which should be JSON but aren't validated; nil if there are none.
    ///
    /// Of several challenges, the first one counts that is Bearer's, says `insufficient_claims` and has claims.
    public let claims: String?
    /// The URL by which the server names the authority that it wants tokens from, without a query or trailing slashes; nil
    /// if it names none.
    ///
    /// It may be the URL of an endpoint, which only the authority's plugin can tell.
    public let authority: String?

    /// Parses the values of a response's `WWW-Authenticate` headers, in order.
    public init(_ headers: [String]) {
        let bearer = AuthenticateChallenge.read(headers).filter { $0.scheme == "bearer" }
        claims = bearer.lazy.compactMap(\.claims).first
        authority = bearer.lazy.compactMap(\.authority).first
    }
}
