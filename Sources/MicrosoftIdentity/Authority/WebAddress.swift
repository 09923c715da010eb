import FoundationEssentials

/// An https URL cut into its host, port and path segments; the strict part of reading an authority or an issuer.
struct WebAddress: Sendable, Equatable {
    /// Lower case.
    let host: String
    /// Nil for 443.
    let port: Int?
    /// Non-empty, without escapes.
    let segments: [String]

    /// The host, with `:port` where the port is not 443.
    var environment: String { port.map { "\(host):\($0)" } ?? host }

    /// Whether the path is B2C's `/tfp/…`.
    var isTrustFramework: Bool { segments.first?.lowercased() == "tfp" }

    /// Reads a URL; its query and fragment are dropped.
    ///
    /// Only `https` is taken, no user name, and only letters, digits, `.`, `_` and `-` in host and path, so that no two
    /// readers of the URL can disagree about where it leads.
    init(_ text: String) throws(AuthorityError) {
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let parts = URLComponents(string: text), let scheme = parts.scheme
        else { throw .malformed }
        guard scheme.lowercased() == "https" else { throw .notHTTPS }
        guard parts.user == nil, parts.password == nil, let host = parts.encodedHost?.lowercased(),
            Self.isName(host) || Self.isBracketedAddress(host)
        else { throw .malformed }
        let segments = parts.percentEncodedPath.split(separator: "/").map(String.init)
        guard segments.allSatisfy(Self.isName) else { throw .malformed }
        guard parts.port.map({ (1...65_535).contains($0) }) ?? true else { throw .malformed }
        self.host = host
        self.port = parts.port == 443 ? nil : parts.port
        self.segments = segments
    }

    /// Whether the text is a plain host or path segment.
    static func isName(_ text: String) -> Bool {
        guard !text.isEmpty, text.utf8.count <= 255, text != ".", text != ".." else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
    }

    private static func isBracketedAddress(_ text: String) -> Bool {
        guard text.hasPrefix("["), text.hasSuffix("]") else { return false }
        return text.dropFirst().dropLast().utf8.allSatisfy { byte in
            byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".") || Character(Unicode.Scalar(byte)).isHexDigit
        }
    }
}
