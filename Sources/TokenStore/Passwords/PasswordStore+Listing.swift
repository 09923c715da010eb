internal import SecretService
internal import Secrets

extension PasswordStore {
    /// A password of git's and where it is used.
    public struct Listed: Sendable, Equatable {
        /// Where, and whose.
        public var query: PasswordQuery
        /// What is stored there.
        public var password: StoredPassword
    }

    /// Every password that git stored in the person's own keyring, whatever collection this store keeps to.
    ///
    /// - Throws: `locked` if nobody can know whether there are any.
    public func listed() throws(StoreError) -> [Listed] {
        let items = OtherItems(configuration: configuration)
        var listed: [Listed] = []
        for schema in ["org.git.Password", "org.gnome.keyring.NetworkPassword"] {
            listed += try items.items(schema: schema).compactMap(Listed.init)
        }
        return listed
    }
}

extension PasswordStore {
    /// What follows in the labels of passwords that begin with this, and whose each is; reads no secret.
    ///
    /// - Throws: `locked` if nobody can know whether there are any.
    public func labelled(_ prefix: String) throws(StoreError) -> [String: String] {
        try configuration.withKeyring { session throws(ServiceFailure) in
            let attributes = ["xdg:schema": PasswordItem.schemaName]
            let items = try session.readableItems(of: attributes, needsSecrets: false) {
                $0.schema == PasswordItem.schemaName
            }
            var labelled: [String: String] = [:]
            for item in items where !item.isLocked {
                guard let label = try session.label(of: item), label.utf8.starts(with: prefix.utf8) else { continue }
                labelled[String(Substring(label.utf8.dropFirst(prefix.utf8.count)))] = item.attributes["user"] ?? ""
            }
            return labelled
        }
    }
}

extension PasswordStore.Listed {
    /// Reads an item; nil if it is of no URL or no text.
    fileprivate init?(_ item: OtherItems.Item) {
        guard let address = PasswordAddress(item.attributes), let secret = item.secret,
            let text = PasswordText(bytes: Array(secret.reveal().utf8))
        else { return nil }
        let username = item.attributes["user"]
        let host = address.server + (address.port.map { ":\($0)" } ?? "")
        query = PasswordQuery(
            scheme: address.scheme, host: host, path: address.path.isEmpty ? nil : address.path, username: username)
        password = StoredPassword(
            username: username, proof: .password(Secret(text.password)), expiresOn: text.expiresOn,
            oauthRefreshToken: text.oauthRefreshToken.map { Secret($0) })
    }
}
