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
