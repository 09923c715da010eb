import Addresses
internal import AnswerCache
import JSON
internal import Secrets

/// An item that matches a password query.
struct PasswordItem {
    /// git's schema, which git-credential-libsecret has used since about git 2.40.
    static let schemaName = "org.git.Password"
    /// GNOME's schema, which older builds of that helper use, with the same attribute names.
    static let olderSchemaName = "org.gnome.keyring.NetworkPassword"

    let item: KeyringItem
    /// The path of its address; empty for the host itself.
    let path: String
    /// The time of its last change, in seconds since 1970; 0 if it wasn't read.
    var modified: UInt64 = 0
    /// The parsed secret; nil if it wasn't loaded, or couldn't be parsed.
    let password: StoredPassword?

    /// Whether the item holds the password or credential in the query; true if the query has neither.
    func isProvenBy(_ query: PasswordQuery) -> Bool {
        guard let known = query.credential ?? query.password else { return true }
        switch password?.proof {
        case .password(let secret): return secret == known
        case .authorization(_, let credential): return credential == known
        case nil: return false
        }
    }

    /// Orders items from newest to oldest; if they changed in the same second, the one created last comes first.
    static func isNewer(_ one: PasswordItem, _ other: PasswordItem) -> Bool {
        (one.modified, one.item.number, one.item.path) > (other.modified, other.item.number, other.item.path)
    }
}

extension PasswordItem {
    /// Reads a password of git's.
    init(_ item: KeyringItem) {
        self.init(
            item: item, path: PasswordAddress(item.attributes)?.path ?? "",
            password: item.secret.flatMap { StoredPassword(itemSecret: $0, username: item.attributes["user"]) })
    }
}

extension KeyringItem {
    /// The number at the end of the item's path, which counts up; 0 if there is none.
    fileprivate var number: Int {
        path.pieces(between: "/").last.flatMap { Int($0) } ?? 0
    }

    /// Whether the item has git's schema, or the one that older builds of git's helper use.
    fileprivate var isGitPassword: Bool {
        schema == PasswordItem.schemaName || schema == PasswordItem.olderSchemaName
    }
}

extension PasswordQuery {
    /// The attributes to search for; items that aren't meant may have them, too.
    func searchAttributes(anywhere: Bool) -> [String: String] {
        var attributes = PasswordAddress(self).attributes
        if anywhere { attributes["object"] = nil }
        attributes["user"] = username
        return attributes
    }
}

extension KeyringSession {
    /// Finds the passwords at exactly this address, of the query's user if it names one.
    func passwords(
        for query: PasswordQuery, needsSecrets: Bool, _ caseless: HostTrait
    ) throws(KeyringError) -> [PasswordItem] {
        try passwordItems(for: query, needsSecrets: needsSecrets, caseless).filter { !$0.isLocked }.map(
            PasswordItem.init)
    }

    /// The same; locked items that may be such passwords are in the result if others could be read.
    ///
    /// If there is none, another search finds those at paths that differ in case only: finding out whether the host's paths
    /// have a case takes longer. `seen` is called for whatever is found, which may be more.
    func passwordItems(
        for query: PasswordQuery, needsSecrets: Bool, _ caseless: HostTrait, seen: () -> Void = {}
    ) throws(KeyringError) -> [KeyringItem] {
        let address = PasswordAddress(query)
        let isOfPlace = query.reach == .place
        for anywhere in isOfPlace && !address.path.isEmpty ? [false, true] : [!isOfPlace] {
            let items = try readableItems(
                of: query.searchAttributes(anywhere: anywhere), needsSecrets: needsSecrets
            ) { item in
                seen()
                return item.isGitPassword
                    && PasswordAddress(item.attributes).map {
                        address.isAnswered(by: $0, within: query.reach, caseless: caseless)
                    } ?? false
                    && (query.username.map { item.attributes["user"]?.isSame(as: $0) == true } ?? true)
            }
            if !items.isEmpty { return items }
        }
        return []
    }

    /// Finds the items of lanyard's own schema at exactly this address, of the query's user if it names one.
    func own(
        _ kind: OwnPassword, for query: PasswordQuery, group: String, needsSecrets: Bool, _ caseless: HostTrait
    ) throws(KeyringError) -> [PasswordItem] {
        let address = PasswordAddress(query)
        var attributes = ItemAttributes(of: kind, at: address, username: query.username, group: group).dictionary
        if query.username == nil { attributes["home-account"] = nil }
        if query.reach != .place { attributes["target"] = nil }
        let items = try readableItems(of: attributes, needsSecrets: needsSecrets) { item in
            item.schema == ItemAttributes.schemaName
                && attributes.allSatisfy { item.attributes[$0.key] == $0.value }
                && address.isAnswered(
                    by: address.at(item.attributes["target"]), within: query.reach, caseless: caseless)
        }
        return items.filter { !$0.isLocked }.map { item in
            PasswordItem(
                item: item, path: item.attributes["target"] ?? "",
                password: item.secret.flatMap { StoredPassword(ownSecret: $0) })
        }
    }
}

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

// What git's schema can't hold, as an item of lanyard's own: an HTTP authorization that git asked to store (`authtype` and
// `credential`), which git-credential-libsecret would return as an empty password, and a password of several lines, such
// as a key of Google's for docker, of which it would return the first.

extension ItemAttributes {
    /// Creates the key of an authorization, or of a password of several lines, in which the address takes the place of the
    /// environment and the target.
    ///
    /// It contains only a digest of the user name, because attributes aren't secret.
    init(of kind: OwnPassword, at address: PasswordAddress, username: String?, group: String) {
        let port = address.port.map { ":\($0)" } ?? ""
        self.init(
            group: group, kind: kind.rawValue, homeAccount: username?.digest ?? "",
            environment: "\(address.scheme)://\(address.server)\(port)", target: address.path)
    }
}

/// The kinds of items with a password in lanyard's own schema.
enum OwnPassword: String {
    case authorization
    /// A password of several lines.
    case lines
}

extension StoredPassword {
    /// The secret of an item in lanyard's own schema.
    var ownSecret: [UInt8] {
        var members = [
            "username": username, "expires_on": expiresOn.map { String($0) },
            "oauth_refresh_token": oauthRefreshToken?.reveal(),
        ]
        switch proof {
        case .authorization(let type, let credential):
            (members["authtype"], members["credential"]) = (type, credential.reveal())
        case .password(let secret): members["password"] = secret.reveal()
        }
        return JSONValue.object(members.compactMapValues { $0.map(JSONValue.string) }).encodedWithLongEscapes()
    }

    /// Parses the secret of an item in lanyard's own schema; nil if it isn't one.
    init?(ownSecret json: [UInt8]) {
        guard let members = JSONValue(bytes: json) else { return nil }
        let proof: Proof
        if let type = members["authtype"]?.text, let credential = members["credential"]?.text {
            proof = .authorization(type: type, credential: Secret(credential))
        } else if let password = members["password"]?.string {
            proof = .password(Secret(password))
        } else {
            return nil
        }
        let refreshToken = members["oauth_refresh_token"]?.text ?? ""
        self.init(
            username: members["username"]?.text, proof: proof,
            expiresOn: members["expires_on"]?.time,
            oauthRefreshToken: refreshToken.isEmpty ? nil : Secret(refreshToken))
    }
}
