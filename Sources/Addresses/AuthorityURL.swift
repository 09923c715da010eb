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
