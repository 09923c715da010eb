/// A URL whose host all programs interpret alike (RFC 3986).
///
/// It is split by bytes. Swift's `Character` is a grapheme cluster: to Swift, a slash followed by a combining mark
/// isn't a slash, but curl and git see one.
public struct StrictURL: Sendable {
    /// The scheme, in lower case.
    public let scheme: String
    /// The user name as written, possibly empty; nil if the URL has none.
    public let user: Substring?
    /// The password as written; nil if the URL has none.
    public let password: Substring?
    /// The host, with the port if the URL has one.
    public let host: RequestHost
    /// Everything after the host: path, query and fragment.
    public let tail: Substring

    /// Parses a URL.
    ///
    /// Returns nil if programs interpret it differently, or if it isn't valid: it has control characters, spaces or
    /// backslashes anywhere, malformed escapes, or characters in the user name or host that RFC 3986 doesn't allow
    /// there, such as any that aren't ASCII. Path, query and fragment may contain any other text, because nothing in
    /// them changes the host.
    public init?(_ text: String) {
        self.init(text, in: .url)
    }

    /// Parses a pattern: a URL whose host may have `*` as a label.
    public init?(pattern text: String) {
        self.init(text, in: .pattern)
    }

    private init?(_ text: String, in place: RequestHost.Place) {
        guard text.utf8.allSatisfy(\.mayStandInURL), text.utf8.hasOnlyWholeEscapes,
            let scheme = Self.scheme(of: text)
        else { return nil }
        let rest = text.utf8.dropFirst(scheme.utf8.count + 3)
        let end = rest.firstIndex(where: \.endsAuthority) ?? rest.endIndex
        var (info, host): (Substring?, Substring) = (nil, Substring(rest[..<end]))
        if let at = rest[..<end].lastIndex(of: UInt8(ascii: "@")) {
            info = Substring(rest[..<at])
            host = Substring(rest[..<end][at...].dropFirst())
        }
        guard info.map(Self.isUserInfo) ?? true, let host = RequestHost(host, in: place) else {
            return nil
        }
        self.scheme = scheme
        let parts = info.map { $0.cut(at: ":") ?? ($0, nil) }
        user = parts?.0
        password = parts?.1
        self.host = host
        tail = Substring(rest[end...])
    }

    /// The path as written, with its leading slash; empty if there is none.
    public var path: Substring {
        tail.beforeQuery
    }

    /// Whether a query or a fragment follows the path.
    public var hasQueryOrFragment: Bool { path.endIndex != tail.endIndex }

    /// Returns the scheme in lower case; nil unless the text begins with a scheme (RFC 3986, 3.1) and `://`.
    public static func scheme(of text: String) -> String? {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), isScheme(text[..<colon]),
            text.utf8[colon...].starts(with: "://".utf8)
        else { return nil }
        return text[..<colon].lowercased()
    }

    private static func isUserInfo(_ text: Substring) -> Bool {
        guard text.utf8.allSatisfy(\.mayStandInUserInfo), let decoded = text.percentDecoded else { return false }
        return !decoded.hasControlCharacter
    }

    /// Whether the text can be a resource indicator: an absolute URI without a fragment (RFC 8707, 2), of at most 2048
    /// bytes of printable ASCII.
    public static func isResourceIndicator(_ text: String) -> Bool {
        guard text.utf8.count <= 2048, text.utf8.allSatisfy({ $0.isVisibleASCII && $0 != UInt8(ascii: "#") }),
            let (scheme, rest) = text.cut(at: ":")
        else { return false }
        return isScheme(scheme) && !rest.isEmpty
    }

    /// Whether the text is a scheme (RFC 3986, 3.1).
    public static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, first.isLetter else { return false }
        return text.utf8.allSatisfy { $0.isAlphanumeric || [0x2B, 0x2D, 0x2E].contains($0) }
    }
}

extension StringProtocol {
    /// A URL, or a host with what may follow it, which becomes an https URL.
    package var withHTTPS: String { StrictURL.scheme(of: String(self)) == nil ? "https://\(self)" : String(self) }
}

extension Substring {
    /// All before the query and the fragment of a URL or a path.
    package var beforeQuery: Substring {
        self[..<(utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? endIndex)]
    }
}
