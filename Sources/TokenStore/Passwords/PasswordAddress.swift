internal import Addresses

/// Where git uses a password, as git-credential-libsecret splits it into attributes.
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

    /// The address of a query: absent and empty path are the same.
    init(_ query: PasswordQuery) {
        scheme = query.scheme
        path = query.path ?? ""
        (server, port) = Self.split(query.host)
    }

    /// The address of an item, of either schema; nil if it has none.
    init?(_ attributes: [String: String]) {
        guard let scheme = attributes["protocol"], let server = attributes["server"] else { return nil }
        self.scheme = scheme
        self.server = server
        path = attributes["object"] ?? ""
        // libsecret keeps integers as decimal text; 0 is what the helper calls no port.
        port = attributes["port"].flatMap(UInt16.init).flatMap { $0 == 0 ? nil : $0 }
    }

    /// Whether a password of an address may answer a query of this one.
    func isAnswered(by stored: PasswordAddress, within reach: PathReach) -> Bool {
        guard stored.at(path) == self else { return false }
        return switch reach {
        case .place: stored.path.isSame(as: path)
        case .above: segments.starts(with: stored.segments)
        // What is at a well-known place (RFC 8615) is of the protocol that asks there, as terraform's tokens are.
        case .below: !stored.path.utf8.starts(with: ".well-known/".utf8)
        }
    }

    /// The same with another path.
    func at(_ path: String?) -> PasswordAddress {
        var other = self
        other.path = path ?? ""
        return other
    }

    /// The path's segments; a slash at its end adds none.
    var segments: [String] { path.pieces(between: "/").map(String.init) }

    /// The attributes of the address, without those that do not apply, as git-credential-libsecret leaves them out.
    var attributes: [String: String] {
        var attributes = ["protocol": scheme, "server": server]
        if let port { attributes["port"] = String(port) }
        if !path.isEmpty { attributes["object"] = path }
        return attributes
    }

    /// The label that git-credential-libsecret gives an item.
    var label: String {
        "Git: \(scheme)://\(server)\(port.map { ":\($0)" } ?? "")/\(path)"
    }

    /// Splits `host:port`; a colon inside the brackets of an IPv6 address is not one before a port.
    private static func split(_ host: String) -> (server: String, port: UInt16?) {
        guard let (server, digits) = host.cut(atLast: ":"), !digits.hasBytes("]"), let port = UInt16(digits), port > 0
        else { return (host, nil) }
        return (String(server), port)
    }
}
