import Addresses

/// An authority's URL: https, a host and a path; nothing else has a meaning there, so nothing else is taken.
public struct AuthorityURL: Sendable, Hashable {
    static let mostSegments = 8

    /// The host in lower case, with `:port` if the port isn't 443.
    public let host: String
    /// The segments of the path as written.
    public let path: [String]

    /// Reads a URL; nil for one with user information, a query, a fragment, an escape or another scheme.
    ///
    /// One trailing slash is dropped.
    public init?(_ text: String) {
        guard text.utf8.count <= 2048, let url = StrictURL(text), url.scheme == "https", url.user == nil,
            !url.host.isIPv6, !url.hasQueryOrFragment
        else { return nil }
        var parts = url.path.pieces(between: "/", omittingEmpty: false).dropFirst()
        if parts.last == "" { parts.removeLast() }
        guard parts.count <= Self.mostSegments, parts.allSatisfy(Self.isSegment) else { return nil }
        host = url.host.withoutOwnPort(of: url.scheme).text
        path = parts.map { String($0) }
    }

    /// A URL that a manifest gives whole, or as a path below this one.
    func resolving(_ text: String) -> String { text.utf8.first == UInt8(ascii: "/") ? "\(self)\(text)" : text }

    private static func isSegment(_ text: Substring) -> Bool {
        guard !["", ".", ".."].contains(text), text.utf8.count <= 256 else { return false }
        return text.utf8.allSatisfy(\.isUnreserved)
    }
}

extension AuthorityURL: CustomStringConvertible {
    /// The URL, its host in lower case, without a trailing slash.
    public var description: String {
        "https://\(host)" + path.map { "/\($0)" }.joined()
    }
}
