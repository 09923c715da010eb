public import CredentialProtocol

/// A rule's `url`, matched as git matches `http.<url>.*` (git-config(1)).
///
/// The scheme is equal; the host is equal or a `*` stands for one of its labels; the port is equal, a scheme's own port
/// counting as none; the path is a prefix by whole segments; a user name, where the pattern has one, is equal.
public struct URLPattern: Sendable, Equatable {
    /// The pattern as it was written.
    public let text: String
    /// The scheme, lower-cased.
    public let scheme: String
    private let labels: [Substring]
    private let port: Int?
    private let segments: [Substring]
    private let username: String?

    /// How closely a pattern fits; of two that match, the greater is the better.
    public struct Fit: Comparable, Sendable {
        let literalLabels: Int
        let segments: Int
        let namesUser: Bool

        /// Host first, then path, then user, as git ranks them.
        public static func < (one: Fit, other: Fit) -> Bool {
            (one.literalLabels, one.segments, one.namesUser ? 1 : 0)
                < (other.literalLabels, other.segments, other.namesUser ? 1 : 0)
        }
    }

    /// Reads a pattern; nil where it has no scheme or host, or a query or fragment.
    public init?(_ text: String) {
        let isPlain = text.utf8.allSatisfy { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard isPlain, let separator = text.firstRange(of: "://") else { return nil }
        scheme = text[..<separator.lowerBound].lowercased()
        let rest = text[separator.upperBound...]
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        var authority = rest[..<slash]
        if let at = authority.lastIndex(of: "@") {
            username = String(authority[..<at])
            authority = authority[authority.index(after: at)...]
        } else {
            username = nil
        }
        guard !scheme.isEmpty, let host = RequestHost(String(authority)) else { return nil }
        self.text = text
        labels = host.labels
        port = host.port.flatMap { $0 == Self.ownPort(of: text[..<separator.lowerBound].lowercased()) ? nil : $0 }
        segments = rest[slash...].split(separator: "/")
    }

    /// The host, which may have wildcards.
    public var host: RequestHost { RequestHost(name: labels.joined(separator: "."), port: port) }

    /// Whether what should be a user name is one with a password behind it.
    public var hasPassword: Bool { username?.contains(":") == true }

    /// Whether the pattern has a path.
    public var hasPath: Bool { !segments.isEmpty }

    /// `SCHEME://HOST` of a pattern that has a path and no wildcard, else nil.
    public var placeWithPath: String? {
        guard !segments.isEmpty, !labels.contains("*") else { return nil }
        return "\(scheme)://\(host.text)"
    }

    /// Whether another pattern matches the same URLs, however it is written.
    public func means(_ other: URLPattern) -> Bool {
        (scheme, labels, port, segments) == (other.scheme, other.labels, other.port, other.segments)
            && username == other.username
    }

    /// How the pattern fits a request, or nil where it doesn't match.
    public func fit(_ request: CredentialRequest) -> Fit? {
        guard let host = request.host, request.scheme == scheme else { return nil }
        let requestPort = host.port.flatMap { $0 == Self.ownPort(of: scheme) ? nil : $0 }
        guard requestPort == port, let literal = literalLabels(matching: host.labels) else { return nil }
        guard hasPrefix(of: request.path) else { return nil }
        if let username, request.username != username { return nil }
        return Fit(literalLabels: literal, segments: segments.count, namesUser: username != nil)
    }

    /// Why a pattern doesn't match a request.
    public enum Mismatch: String, Sendable {
        /// Another scheme.
        case scheme
        /// Another host.
        case host
        /// Another port.
        case port
        /// Another path, or none where one is needed.
        case path
        /// Another user name, or none.
        case username
    }

    /// The first thing in which a request differs from the pattern, or nil where it matches.
    public func mismatch(_ request: CredentialRequest) -> Mismatch? {
        guard let host = request.host, request.scheme == scheme else { return .scheme }
        guard literalLabels(matching: host.labels) != nil else { return .host }
        guard host.port.flatMap({ $0 == Self.ownPort(of: scheme) ? nil : $0 }) == port else { return .port }
        guard hasPrefix(of: request.path) else { return .path }
        return username == nil || request.username == username ? nil : .username
    }

    private func hasPrefix(of path: String?) -> Bool {
        guard !segments.isEmpty else { return true }
        let bare = (path ?? "").prefix { $0 != "?" && $0 != "#" }
        let parts = bare.split(separator: "/")
        guard !parts.contains("..") else { return false }
        return parts.count >= segments.count && zip(segments, parts).allSatisfy(==)
    }

    private func literalLabels(matching others: [Substring]) -> Int? {
        guard others.count == labels.count else { return nil }
        var literal = 0
        for (label, other) in zip(labels, others) where label != "*" {
            guard label == other else { return nil }
            literal += 1
        }
        return literal
    }

    private static func ownPort(of scheme: String) -> Int? {
        switch scheme {
        case "https": 443
        case "http": 80
        default: nil
        }
    }
}

extension RequestHost {
    /// The labels of a name; an address is one label.
    fileprivate var labels: [Substring] {
        name.contains(":") ? [name[...]] : name.split(separator: ".", omittingEmptySubsequences: false)
    }
}
