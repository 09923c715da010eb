public import Addresses

/// A rule's `url`, which is matched like git's `http.<url>.*` (git-config(1)).
///
/// The scheme must be equal. The host must be equal, but a `*` stands for one of its labels. The port must be equal,
/// with the scheme's default port counting as none. The path must be a prefix of whole segments. If the pattern has a
/// user name, it must be equal. Path and user name are percent-decoded, as git sends them, and compared by bytes:
/// Unicode may encode a letter in two ways, which servers treat as different.
public struct URLPattern: Sendable, Equatable {
    /// The pattern as written.
    public let text: String
    /// The scheme, lower-cased.
    public let scheme: String
    /// The host, which may have wildcards, without the scheme's default port.
    public let host: RequestHost
    /// Whether the user name is followed by a password.
    public let hasPassword: Bool
    private let segments: [[UInt8]]
    private let username: [UInt8]?

    /// How closely a pattern matches; greater is better.
    public struct Fit: Comparable, Sendable {
        let literalLabels: Int
        let segments: Int
        let namesUser: Bool

        /// Compares the host first, then the path, then the user, like git.
        public static func < (one: Fit, other: Fit) -> Bool {
            (one.literalLabels, one.segments, one.namesUser ? 1 : 0)
                < (other.literalLabels, other.segments, other.namesUser ? 1 : 0)
        }
    }

    /// Parses a pattern; nil if it isn't a URL with or without wildcards, or if it has a query or fragment.
    public init?(_ text: String) {
        guard let url = StrictURL(pattern: text), !url.hasQueryOrFragment, let path = url.path.percentDecoded,
            let user = (url.user ?? "").percentDecoded
        else { return nil }
        self.text = text
        scheme = url.scheme
        host = url.host.withoutOwnPort(of: url.scheme)
        hasPassword = url.password != nil
        segments = path.segments
        username = url.user == nil ? nil : Array(user.utf8)
    }

    /// The request that git would make for the pattern's own URL; a `*` in its host stays.
    public var request: CredentialRequest {
        var request = CredentialRequest()
        (request.scheme, request.host) = (scheme, host)
        if hasPath { request.path = String(decoding: Array(segments.joined(separator: "/".utf8)), as: UTF8.self) }
        request.username = username.map { String(decoding: $0, as: UTF8.self) }
        return request
    }

    /// Whether the pattern has a path.
    public var hasPath: Bool { !segments.isEmpty }

    /// The pattern as `SCHEME://HOST` if it has a path and no wildcard; otherwise nil.
    public var placeWithPath: String? {
        guard !segments.isEmpty, !host.name.hasBytes("*") else { return nil }
        return "\(scheme)://\(host.urlText)"
    }

    /// Whether another pattern matches the same URLs, however it is written.
    public func means(_ other: URLPattern) -> Bool {
        (scheme, host, segments) == (other.scheme, other.host, other.segments) && username == other.username
    }

    /// Returns how the pattern matches a request; nil if it doesn't.
    public func fit(_ request: CredentialRequest) -> Fit? {
        guard mismatch(request) == nil, let literal = request.host.flatMap(literalLabels) else { return nil }
        return Fit(literalLabels: literal, segments: segments.count, namesUser: username != nil)
    }

    /// The reason why a pattern doesn't match a request.
    public enum Mismatch: String, Sendable {
        /// The scheme differs.
        case scheme
        /// The host differs.
        case host
        /// The port differs.
        case port
        /// The path differs, or is missing.
        case path
        /// The user name differs, or is missing.
        case username
    }

    /// Returns the first part in which a request differs from the pattern; nil if it matches.
    public func mismatch(_ request: CredentialRequest) -> Mismatch? {
        guard let host = request.host, request.scheme == scheme else { return .scheme }
        guard literalLabels(matching: host) != nil else { return .host }
        guard host.withoutOwnPort(of: scheme).port == self.host.port else { return .port }
        guard hasPrefix(of: request.path) else { return .path }
        guard let username else { return nil }
        return request.username.map { $0.utf8.elementsEqual(username) } == true ? nil : .username
    }

    private func hasPrefix(of path: String?) -> Bool {
        guard !segments.isEmpty else { return true }
        let bare = (path ?? "")[...].beforeQuery
        guard !bare.climbs else { return false }
        return bare.segments.starts(with: segments)
    }

    /// Returns how many of the host's labels the pattern has literally, where `*` isn't literal; nil if it doesn't
    /// match.
    private func literalLabels(matching other: RequestHost) -> Int? {
        if host.name == other.name { return host.labels.count }
        guard !other.isIPv6, other.name.isHost(meantBy: host.name) else { return nil }
        return host.labels.count { $0 != "*" }
    }
}

extension StringProtocol {
    fileprivate var segments: [[UInt8]] { pieces(between: "/").map { Array($0.utf8) } }

    /// Whether a segment is `..`, also for servers that treat a backslash as a slash.
    fileprivate var climbs: Bool {
        utf8.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }.contains { $0.elementsEqual("..".utf8) }
    }
}
