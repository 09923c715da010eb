/// An authority's URL: https, a host and a path; nothing else has a meaning there, so nothing else is taken.
public struct AuthorityURL: Sendable, Hashable {
    static let mostSegments = 8

    /// The host in lower case, with `:port` where the port isn't 443.
    public let host: String
    /// The segments of the path as written, at least one.
    public let path: [String]

    /// Reads a URL; nil for one with user information, a query, a fragment, an empty path, an escape or another scheme.
    ///
    /// One trailing slash is dropped.
    public init?(_ text: String) {
        guard text.utf8.count <= 2048, text.prefix(8).lowercased() == "https://" else { return nil }
        var parts = text.dropFirst(8).split(separator: "/", omittingEmptySubsequences: false)
        if parts.last == "" { parts.removeLast() }
        guard parts.count > 1, parts.count <= Self.mostSegments + 1, let address = Self.address(parts[0]),
            parts.dropFirst().allSatisfy(Self.isSegment)
        else { return nil }
        host = address
        path = parts.dropFirst().map { String($0) }
    }

    private static func address(_ text: Substring) -> String? {
        let lower = text.lowercased()
        guard HostName.isCanonical(lower) else { return nil }
        return lower.hasSuffix(":443") ? String(lower.dropLast(4)) : lower
    }

    private static func isSegment(_ text: Substring) -> Bool {
        guard !["", ".", ".."].contains(text), text.utf8.count <= 256 else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
            default: false
            }
        }
    }
}

extension AuthorityURL: CustomStringConvertible {
    /// The URL, its host in lower case, without a trailing slash.
    public var description: String {
        "https://\(host)/\(path.joined(separator: "/"))"
    }
}
