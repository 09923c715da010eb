internal import Addresses
internal import SecretService
internal import Secrets

/// An item that a password query found.
struct PasswordItem {
    /// git's schema, as git-credential-libsecret has it since git 2.40 or so.
    static let schemaName = "org.git.Password"
    /// GNOME's schema, which older builds of that helper use; its names for the attributes are the same.
    static let olderSchemaName = "org.gnome.keyring.NetworkPassword"

    let item: KeyringItem
    /// The path of its address; empty for the host itself.
    let path: String
    /// When it was last changed, in seconds since 1970; 0 if nobody asked.
    var modified: UInt64 = 0
    let username: String?
    /// What it holds; nil if its secret was not loaded, or is nothing of ours.
    let password: StoredPassword?

    /// Whether the item holds what the query proves it knows; true if it proves nothing.
    func isProvenBy(_ query: PasswordQuery) -> Bool {
        guard let known = query.credential ?? query.password else { return true }
        switch password?.proof {
        case .password(let secret): return secret == known
        case .authorization(_, let credential): return credential == known
        case nil: return false
        }
    }

    /// Orders items by when they were stored, the newest first; of the same second the one created last.
    static func isNewer(_ one: PasswordItem, _ other: PasswordItem) -> Bool {
        (one.modified, one.item.number, one.item.path) > (other.modified, other.item.number, other.item.path)
    }
}

extension PasswordItem {
    /// Reads a password of git's.
    init(_ item: KeyringItem) {
        let username = item.attributes["user"]
        let password = item.secret.flatMap { PasswordText(bytes: $0) }.map { text in
            StoredPassword(
                username: username, proof: .password(Secret(text.password)), expiresOn: text.expiresOn,
                oauthRefreshToken: text.oauthRefreshToken.map { Secret($0) })
        }
        self.init(
            item: item, path: PasswordAddress(item.attributes)?.path ?? "", username: username, password: password)
    }
}

extension KeyringItem {
    /// The number that providers end an item's path with, counting up; 0 if they do not.
    fileprivate var number: Int {
        path.pieces(between: "/").last.flatMap { Int($0) } ?? 0
    }

    /// Whether the item is of git's schema, or of the one that older builds of git's helper use.
    fileprivate var isGitPassword: Bool {
        schema == PasswordItem.schemaName || schema == PasswordItem.olderSchemaName
    }
}

extension PasswordQuery {
    /// What the provider is asked for; more than what is meant may have these attributes.
    var searchAttributes: [String: String] {
        var attributes = PasswordAddress(self).attributes
        if reach != .place { attributes["object"] = nil }
        attributes["user"] = username
        return attributes
    }
}

extension KeyringSession {
    /// Finds the passwords of exactly this address, of the query's user if it names one.
    func passwords(for query: PasswordQuery, needsSecrets: Bool) throws(ServiceFailure) -> [PasswordItem] {
        try passwordItems(for: query, needsSecrets: needsSecrets).filter { !$0.isLocked }.map(PasswordItem.init)
    }

    /// The same; locked items that may be such passwords are in the result if others could be read.
    func passwordItems(for query: PasswordQuery, needsSecrets: Bool) throws(ServiceFailure) -> [KeyringItem] {
        let address = PasswordAddress(query)
        return try readableItems(of: query.searchAttributes, needsSecrets: needsSecrets) { item in
            item.isGitPassword
                && PasswordAddress(item.attributes).map { address.isAnswered(by: $0, within: query.reach) } ?? false
                && (query.username.map { item.attributes["user"]?.isSame(as: $0) == true } ?? true)
        }
    }

    /// Finds the authorizations of exactly this address, of the query's user if it names one.
    func authorizations(
        for query: PasswordQuery, group: String, needsSecrets: Bool
    ) throws(ServiceFailure) -> [PasswordItem] {
        let address = PasswordAddress(query)
        let wanted = AuthorizationRecord.attributes(
            of: address, username: query.username, group: group)
        var attributes = wanted.dictionary
        if query.username == nil { attributes["home-account"] = nil }
        if query.reach != .place { attributes["target"] = nil }
        let items = try readableItems(of: attributes, needsSecrets: needsSecrets) { item in
            item.schema == ItemAttributes.schemaName
                && attributes.allSatisfy { item.attributes[$0.key] == $0.value }
                && address.isAnswered(by: address.at(item.attributes["target"]), within: query.reach)
        }
        return items.filter { !$0.isLocked }.map { item in
            let password = item.secret.flatMap { AuthorizationRecord.password(json: $0) }
            let path = item.attributes["target"] ?? ""
            return PasswordItem(item: item, path: path, username: password?.username, password: password)
        }
    }
}
