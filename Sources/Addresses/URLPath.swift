/// The path of a URL as it decides what a request gets: which rule applies, and which password.
///
/// It is made of the form that `percentDecodedPath` returns, or that git sends. A query after it doesn't count. An empty
/// segment is a segment, so `a//b` isn't `a/b`; only a slash at the end makes no difference.
package struct URLPath: Sendable, Equatable {
    /// The path without a slash at its end.
    package let text: String
    private let segments: [[UInt8]]
    private let climbs: Bool

    /// Splits a path without its leading slash; nil is the empty path.
    package init(_ path: String?) {
        var path = (path ?? "")[...].beforeQuery
        if path.utf8.last == UInt8(ascii: "/") { path = Substring(path.utf8.dropLast()) }
        text = String(path)
        segments = path.isEmpty ? [] : path.pieces(between: "/", omittingEmpty: false).map { Array($0.utf8) }
        climbs = path.climbs
    }

    /// Whether there is nothing in it.
    package var isEmpty: Bool { segments.isEmpty }

    /// The number of segments.
    package var depth: Int { segments.count }

    /// Whether it is at another path or below it, for whichever server.
    ///
    /// A path with `..` in it, however that is escaped, is below the empty path only: servers and clients don't agree where it
    /// leads.
    package func isBelow(_ other: URLPath, ignoringCase: Bool = false) -> Bool {
        guard !climbs || other.isEmpty else { return false }
        return ignoringCase
            ? segments.map(\.lowercased).starts(with: other.segments.map(\.lowercased))
            : segments.starts(with: other.segments)
    }

    /// Whether it is the same path, escaped alike.
    package func isSame(as other: URLPath, ignoringCase: Bool) -> Bool {
        text.isSame(as: other.text) || ignoringCase && text.lowercased().isSame(as: other.text.lowercased())
    }
}

/// The hosts that have a trait; asking may take time, so it is only done if something depends on it.
public struct HostTrait: Sendable, Equatable {
    private let isOf: @Sendable (RequestHost) -> Bool

    /// The trait of the hosts for which the function returns true.
    public init(_ isOf: @escaping @Sendable (RequestHost) -> Bool) { self.isOf = isOf }

    /// The trait of no host.
    public static let none = HostTrait { _ in false }

    /// Whether a host has it.
    public func holds(for host: RequestHost) -> Bool { isOf(host) }

    /// It is no setting, so it makes no difference.
    public static func == (one: HostTrait, other: HostTrait) -> Bool { true }
}

extension [UInt8] {
    fileprivate var lowercased: [UInt8] { Array(String(decoding: self, as: UTF8.self).lowercased().utf8) }
}

extension StringProtocol {
    /// Whether a segment is `..` for any server: some decode twice, take a backslash for a slash, or drop what follows a
    /// semicolon.
    fileprivate var climbs: Bool {
        guard utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "%") }) else { return false }
        var bytes = Array(utf8)
        // Each round makes it shorter.
        while true {
            let decoded = bytes.decodedOnce
            guard decoded.count < bytes.count else { break }
            bytes = decoded
        }
        return bytes.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }.contains { segment in
            segment.prefix { $0 != UInt8(ascii: ";") }.elementsEqual("..".utf8)
        }
    }
}

/// The places where a stored password may answer a request for a place.
///
/// git sends as much of the path as it wants compared. Other tools don't know the place that a password was stored for:
/// they send whole URLs, or no path at all.
public enum PathReach: String, Sendable {
    /// At just this place.
    case place
    /// At the nearest place at or above it, comparing whole segments of the path.
    case above
    /// At the host itself, or else at the only place below it that has a password; not below `.well-known`, where each
    /// place belongs to a protocol.
    case below
}
