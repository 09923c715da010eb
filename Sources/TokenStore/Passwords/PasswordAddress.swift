internal import Addresses

/// The place where git uses a password, split into attributes as by git-credential-libsecret.
struct PasswordAddress: Equatable {
    var scheme: String
    var server: String
    var port: UInt16?
    var path: String

    /// Whether both are the same byte by byte, as the keyring compares them.
    static func == (one: PasswordAddress, other: PasswordAddress) -> Bool {
        one.scheme.isSame(as: other.scheme) && one.server.isSame(as: other.server) && one.port == other.port
            && one.path.isSame(as: other.path)
    }

    /// Creates the address of a query; a missing path and an empty one are the same.
    init(_ query: PasswordQuery) {
        scheme = query.scheme
        path = query.path ?? ""
        (server, port) = Self.split(query.host)
    }

    /// Creates the address of an item of either schema; nil if it has none.
    init?(_ attributes: [String: String]) {
        guard let scheme = attributes["protocol"], let server = attributes["server"] else { return nil }
        self.scheme = scheme
        self.server = server
        path = attributes["object"] ?? ""
        // libsecret stores integers as decimal text; the helper writes 0 for no port.
        port = attributes["port"].flatMap(UInt16.init).flatMap { $0 == 0 ? nil : $0 }
    }

    /// Whether a password at another address may answer a query for this one; `caseless` are the hosts whose paths have
    /// no case.
    func isAnswered(by stored: PasswordAddress, within reach: PathReach, caseless: HostTrait) -> Bool {
        guard stored.at(path) == self else { return false }
        let (own, other) = (URLPath(path), URLPath(stored.path))
        return switch reach {
        case .place:
            stored.path.isSame(as: path) || own.isSame(as: other, ignoringCase: true) && hasNoCase(caseless)
        case .above: own.isBelow(other) || own.isBelow(other, ignoringCase: true) && hasNoCase(caseless)
        // A well-known path (RFC 8615) belongs to the protocol that uses it, such as terraform's tokens.
        case .below: !stored.path.utf8.starts(with: ".well-known/".utf8)
        }
    }

    /// Returns the same address with another path.
    func at(_ path: String?) -> PasswordAddress {
        var other = self
        other.path = path ?? ""
        return other
    }

    /// Whether the path has no case.
    func hasNoCase(_ caseless: HostTrait) -> Bool {
        !path.isEmpty && caseless.holds(for: RequestHost(name: server, port: port.map(Int.init)))
    }

    /// The attributes of the address; like git-credential-libsecret, without those that don't apply.
    var attributes: [String: String] {
        var attributes = ["protocol": scheme, "server": server]
        if let port { attributes["port"] = String(port) }
        if !path.isEmpty { attributes["object"] = path }
        return attributes
    }

    /// The label that git-credential-libsecret gives to an item.
    var label: String {
        "Git: \(scheme)://\(server)\(port.map { ":\($0)" } ?? "")/\(path)"
    }

    /// Splits `host:port`; colons inside the brackets of an IPv6 address don't count.
    private static func split(_ host: String) -> (server: String, port: UInt16?) {
        guard let (server, digits) = host.cut(atLast: ":"), !digits.hasBytes("]"), let port = UInt16(digits), port > 0
        else { return (host, nil) }
        return (String(server), port)
    }
}
