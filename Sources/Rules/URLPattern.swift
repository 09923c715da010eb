public import Addresses

/// A rule's `url`, matched as git matches `http.<url>.*` (git-config(1)).
///
/// The scheme is equal; the host is equal or a `*` stands for one of its labels; the port is equal, a scheme's own port
/// counting as none; the path is a prefix by whole segments; a user name, if the pattern has one, is equal. Path and user name
/// are percent-decoded, as git sends them, and compared by bytes: a letter may be spelt in two ways, and servers tell them apart.
public struct URLPattern: Sendable, Equatable {
    /// The pattern as it was written.
    public let text: String
    /// The scheme, lower-cased.
    public let scheme: String
    /// The host, which may have wildcards, without a port that is the scheme's own.
    public let host: RequestHost
    /// Whether what should be a user name is one with a password behind it.
    public let hasPassword: Bool
    private let segments: [[UInt8]]
    private let username: [UInt8]?

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

    /// Reads a pattern; nil if it isn't a URL with or without wildcards, or has a query or fragment.
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

    /// What git would ask for the pattern's own URL; a `*` in its host stays one.
    public var request: CredentialRequest {
        var request = CredentialRequest()
        (request.scheme, request.host) = (scheme, host)
        if hasPath { request.path = String(decoding: Array(segments.joined(separator: "/".utf8)), as: UTF8.self) }
        request.username = username.map { String(decoding: $0, as: UTF8.self) }
        return request
    }

    /// Whether the pattern has a path.
    public var hasPath: Bool { !segments.isEmpty }

    /// `SCHEME://HOST` of a pattern that has a path and no wildcard, else nil.
    public var placeWithPath: String? {
        guard !segments.isEmpty, !host.name.hasBytes("*") else { return nil }
        return "\(scheme)://\(host.urlText)"
    }

    /// Whether another pattern matches the same URLs, however it is written.
    public func means(_ other: URLPattern) -> Bool {
        (scheme, host, segments) == (other.scheme, other.host, other.segments) && username == other.username
    }

    /// How the pattern fits a request, or nil if it doesn't match.
    public func fit(_ request: CredentialRequest) -> Fit? {
        guard mismatch(request) == nil, let literal = request.host.flatMap(literalLabels) else { return nil }
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
        /// Another path, or none though one is needed.
        case path
        /// Another user name, or none.
        case username
    }

    /// The first thing in which a request differs from the pattern, or nil if it matches.
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
        let bare = (path ?? "").beforeQuery
        guard !bare.climbs else { return false }
        return bare.segments.starts(with: segments)
    }

    /// How many labels of the host the pattern names, a `*` being one label of a name; nil if it doesn't match.
    private func literalLabels(matching other: RequestHost) -> Int? {
        if host.name == other.name { return host.labels.count }
        guard !other.isIPv6, other.name.isHost(meantBy: host.name) else { return nil }
        return host.labels.count { $0 != "*" }
    }
}

extension StringProtocol {
    fileprivate var segments: [[UInt8]] { pieces(between: "/").map { Array($0.utf8) } }

    /// Whether a segment is `..`, to servers that take a backslash for a slash as well.
    fileprivate var climbs: Bool {
        utf8.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }.contains { $0.elementsEqual("..".utf8) }
    }
}
