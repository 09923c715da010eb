internal import SecretService
internal import Secrets

extension PasswordStore {
    /// One of git's passwords and where it is used.
    public struct Listed: Sendable, Equatable {
        /// The place and the user.
        public var query: PasswordQuery
        /// The stored password.
        public var password: StoredPassword
    }

    /// Returns every password that git stored in the user's default keyring, whichever collection this store uses.
    ///
    /// - Throws: `locked` if it can't be known whether there are any.
    public func listed() throws(StoreError) -> [Listed] {
        let items = OtherItems(configuration: configuration)
        var listed: [Listed] = []
        for schema in [PasswordItem.schemaName, PasswordItem.olderSchemaName] {
            listed += try items.items(schema: schema).compactMap(Listed.init)
        }
        return listed
    }
}

extension PasswordStore {
    /// Returns the rest of each password's label after this prefix, with the user name; reads the secrets only of those
    /// with several lines, whose user name is in there.
    ///
    /// - Throws: `locked` if it can't be known whether there are any.
    public func labelled(_ prefix: String) throws(StoreError) -> [String: String] {
        try configuration.withKeyring { session throws(ServiceFailure) in
            let attributes = ["xdg:schema": PasswordItem.schemaName]
            let items = try session.readableItems(of: attributes, needsSecrets: false) {
                $0.schema == PasswordItem.schemaName
            }
            let own = ["group": configuration.group, "kind": OwnPassword.lines.rawValue]
            let others = try session.readableItems(of: own, needsSecrets: true) { item in
                item.schema == ItemAttributes.schemaName && own.allSatisfy { item.attributes[$0.key] == $0.value }
            }
            var labelled: [String: String] = [:]
            for item in items + others where !item.isLocked {
                guard let label = try session.label(of: item), label.utf8.starts(with: prefix.utf8) else { continue }
                let username =
                    item.attributes["user"] ?? item.secret.flatMap { StoredPassword(ownSecret: $0) }?.username
                labelled[String(Substring(label.utf8.dropFirst(prefix.utf8.count)))] = username ?? ""
            }
            return labelled
        }
    }
}

extension PasswordStore.Listed {
    /// Converts an item; nil if it isn't for a URL or isn't text.
    fileprivate init?(_ item: OtherItems.Item) {
        let username = item.attributes["user"]
        guard let address = PasswordAddress(item.attributes), let secret = item.secret,
            let stored = StoredPassword(itemSecret: Array(secret.reveal().utf8), username: username)
        else { return nil }
        let host = address.server + (address.port.map { ":\($0)" } ?? "")
        query = PasswordQuery(
            scheme: address.scheme, host: host, path: address.path.isEmpty ? nil : address.path, username: username)
        password = stored
    }
}
