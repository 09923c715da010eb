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

    private init?(_ text: String, in context: RequestHost.Context) {
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
        guard info.map(Self.isUserInfo) ?? true, let host = RequestHost(host, in: context) else {
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

    /// Parses a URL that is fetched, opened or trusted: http or https, in visible ASCII, without a user name, a password
    /// or an address's zone.
    package init?(web text: String) {
        self.init(text)
        guard text.utf8.allSatisfy(\.isVisibleASCII), ["https", "http"].contains(scheme), user == nil,
            host.text == host.urlText
        else { return nil }
    }

    /// Parses such a URL if it is https.
    package init?(https text: String) {
        self.init(web: text)
        guard scheme == "https" else { return nil }
    }

    /// Whether it leads to this computer over http, which needs no protection.
    package var isLoopbackHTTP: Bool { scheme == "http" && host.isThisMachine }

    /// The host, with `:port` if that isn't the scheme's own.
    package var hostText: String { host.withoutOwnPort(of: scheme).text }

    /// Everything before the path, as written.
    package var origin: Substring { tail.base[..<tail.startIndex] }

    /// The segments of the path that aren't empty, as written.
    package var segments: [Substring] { path.pieces(between: "/") }

    /// Whether a fragment follows the path or the query.
    package var hasFragment: Bool { tail.utf8.contains(UInt8(ascii: "#")) }
}

extension StringProtocol {
    /// A URL, or a host with what may follow it, which becomes an https URL.
    package var withHTTPS: String { StrictURL.scheme(of: String(self)) == nil ? "https://\(self)" : String(self) }

    /// Whether it can be a segment of a path that no program rewrites: unreserved characters (RFC 3986, 2.3), but
    /// neither `.` nor `..`.
    package var isPathName: Bool {
        (1...255).contains(utf8.count) && utf8.allSatisfy(\.isUnreserved) && !isSame(as: ".") && !isSame(as: "..")
    }
}

extension Substring {
    /// All before the query and the fragment of a URL or a path.
    package var beforeQuery: Substring {
        self[..<(utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? endIndex)]
    }
}

extension String {
    /// The URL without the slashes at its end, which programs write or leave out.
    package var withoutTrailingSlashes: String {
        var url = self[...]
        while url.utf8.last == UInt8(ascii: "/") { url = Substring(url.utf8.dropLast()) }
        return String(url)
    }

    /// Returns the URL with another scheme; the text itself unless it begins with a scheme and `://`.
    package func with(scheme: String) -> String {
        StrictURL.scheme(of: self).map { scheme + Substring(utf8.dropFirst($0.utf8.count)) } ?? self
    }
}

/// An authority's URL: https, a host and a path; it may have nothing else.
public struct AuthorityURL: Sendable, Hashable {
    package static let mostSegments = 8

    /// The host in lower case, with `:port` if the port isn't 443.
    public let host: String
    /// The segments of the path, as written.
    public let path: [String]

    /// Parses a URL; nil if it has user information, a query, a fragment, an escape or another scheme.
    ///
    /// A single trailing slash is dropped.
    public init?(_ text: String) {
        guard text.utf8.count <= 2048, let url = StrictURL(https: text), !url.host.isIPv6, !url.hasQueryOrFragment
        else { return nil }
        var parts = url.path.pieces(between: "/", omittingEmpty: false).dropFirst()
        if parts.last == "" { parts.removeLast() }
        guard parts.count <= Self.mostSegments, parts.allSatisfy(\.isPathName) else { return nil }
        host = url.hostText
        path = parts.map { String($0) }
    }

    /// Returns a URL from a manifest, which may be a path below this URL.
    package func resolving(_ text: String) -> String { text.utf8.first == UInt8(ascii: "/") ? "\(self)\(text)" : text }
}

extension AuthorityURL: CustomStringConvertible {
    /// The URL, with its host in lower case and without a trailing slash.
    public var description: String {
        "https://\(host)" + path.map { "/\($0)" }.joined()
    }
}
