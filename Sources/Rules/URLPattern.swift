public import Addresses
public import Model

/// A rule's `url`, which is matched like git's `http.<url>.*` (git-config(1)).
///
/// The scheme must be equal. The host must be equal, but a `*` stands for one of its labels. The port must be equal,
/// with the scheme's default port counting as none. The path must be a prefix of whole segments. If the pattern has a
/// user name, it must be equal. Path and user name are percent-decoded, as git sends them, and compared by bytes:
/// Unicode may encode a letter in two ways, which servers treat as different. Only the case of a path may not matter,
/// which depends on the host.
public struct URLPattern: Sendable, Equatable {
    /// The pattern as written.
    public let text: String
    /// The scheme, lower-cased.
    public let scheme: String
    /// The host, which may have wildcards, without the scheme's default port.
    public let host: RequestHost
    /// Whether the user name is followed by a password.
    public let hasPassword: Bool
    private let path: URLPath
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
        guard let url = StrictURL(pattern: text), !url.hasQueryOrFragment, let path = url.path.percentDecodedPath,
            let user = (url.user ?? "").percentDecoded
        else { return nil }
        self.text = text
        scheme = url.scheme
        host = url.host.withoutOwnPort(of: url.scheme)
        hasPassword = url.password != nil
        self.path = URLPath(path.utf8.first == UInt8(ascii: "/") ? String(path.dropFirst()) : path)
        username = url.user == nil ? nil : Array(user.utf8)
    }

    /// The request that git would make for the pattern's own URL; a `*` in its host stays.
    public var request: CredentialRequest {
        var request = CredentialRequest()
        (request.scheme, request.host) = (scheme, host)
        if hasPath { request.path = path.text }
        request.username = username.map { String(decoding: $0, as: UTF8.self) }
        return request
    }

    /// Whether the host has a `*`, so that the pattern may be for many hosts.
    public var hasWildcard: Bool { host.name.hasBytes("*") }

    /// Whether the pattern has a path.
    public var hasPath: Bool { !path.isEmpty }

    /// Whether hosts of different owners match: what follows the last `*` isn't a domain that one owner has.
    ///
    /// There is no list of all such domains here; below countries, these labels are the usual ones.
    public var isForManyOwners: Bool {
        guard let star = host.labels.lastIndex(where: { $0.isSame(as: "*") }) else { return false }
        let domain = host.labels[(star + 1)...]
        guard let last = domain.last, last != "localhost" else { return domain.isEmpty }
        let shared: Set<Substring> = ["ac", "co", "com", "edu", "gov", "net", "org"]
        return domain.count == 1
            || domain.count == 2 && last.utf8.count == 2 && domain.first.map(shared.contains) == true
    }

    /// Whether git may ask for URLs below the path; below `api`, code hosts have packages, and no repositories.
    public var hasPathOfGit: Bool { hasPath && path.text.pieces(between: "/").first != "api" }

    /// The pattern as `SCHEME://HOST` if it has a path of git's and no wildcard; otherwise nil.
    public var placeWithPath: String? {
        guard hasPathOfGit, !hasWildcard else { return nil }
        return "\(scheme)://\(host.urlText)"
    }

    /// Whether another pattern matches the same URLs, however it is written.
    public func means(_ other: URLPattern) -> Bool {
        (scheme, host, path) == (other.scheme, other.host, other.path) && username == other.username
    }

    /// Returns how the pattern matches a request; nil if it doesn't.
    ///
    /// `caseless` are the hosts whose paths have no case.
    public func fit(_ request: CredentialRequest, caseless: HostTrait = .none) -> Fit? {
        guard mismatch(request, caseless: caseless) == nil, let literal = request.host.flatMap(literalLabels) else {
            return nil
        }
        return Fit(literalLabels: literal, segments: path.depth, namesUser: username != nil)
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
        /// The path differs only in its case, which matters at the host.
        case pathCase
        /// The user name differs, or is missing.
        case username
    }

    /// Returns the first part in which a request differs from the pattern; nil if it matches.
    ///
    /// `caseless` are the hosts whose paths have no case.
    public func mismatch(_ request: CredentialRequest, caseless: HostTrait = .none) -> Mismatch? {
        guard let host = request.host, request.scheme == scheme else { return .scheme }
        guard literalLabels(matching: host) != nil else { return .host }
        guard host.withoutOwnPort(of: scheme).port == self.host.port else { return .port }
        let asked = URLPath(request.path)
        if !asked.isBelow(path) {
            guard asked.isBelow(path, ignoringCase: true) else { return .path }
            guard caseless.holds(for: host) else { return .pathCase }
        }
        guard let username else { return nil }
        return request.username.map { $0.utf8.elementsEqual(username) } == true ? nil : .username
    }

    /// Returns how many of the host's labels the pattern has literally, where `*` isn't literal; nil if it doesn't
    /// match.
    private func literalLabels(matching other: RequestHost) -> Int? {
        if host.name == other.name { return host.labels.count }
        guard !other.isIPv6, other.name.isHost(meantBy: host.name) else { return nil }
        return host.labels.count { $0 != "*" }
    }
}
