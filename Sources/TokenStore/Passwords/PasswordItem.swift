internal import Addresses
internal import SecretService
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
    /// The number at the end of the item's path, which providers count up; 0 if there is none.
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
    ) throws(ServiceFailure) -> [PasswordItem] {
        try passwordItems(for: query, needsSecrets: needsSecrets, caseless).filter { !$0.isLocked }.map(
            PasswordItem.init)
    }

    /// The same; locked items that may be such passwords are in the result if others could be read.
    ///
    /// If there is none, another search finds those at paths that differ in case only: finding out whether the host's paths
    /// have a case takes longer. `seen` is called for whatever is found, which may be more.
    func passwordItems(
        for query: PasswordQuery, needsSecrets: Bool, _ caseless: HostTrait, seen: () -> Void = {}
    ) throws(ServiceFailure) -> [KeyringItem] {
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
    ) throws(ServiceFailure) -> [PasswordItem] {
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
