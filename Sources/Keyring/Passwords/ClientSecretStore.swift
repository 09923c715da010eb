internal import Addresses
internal import JSON
public import Secrets

/// A client's secret.
public struct ClientSecret: Sendable, Equatable {
    /// The secret itself.
    public var secret: Secret
    /// The expiry, in seconds since 1970; nil if it doesn't expire, or if that isn't known.
    public var expiresOn: Int?

    /// Creates a client's secret.
    public init(_ secret: Secret, expiresOn: Int? = nil) {
        self.secret = secret
        self.expiresOn = expiresOn
    }
}

/// The secrets of applications in a keyring, one item each.
///
/// They aren't records: clearing or exporting records leaves them alone.
public struct ClientSecretStore: Sendable {
    /// The owner of a secret: one client at one issuer.
    ///
    /// An issuer never gets the secret that another issuer gave to a client of the same ID.
    public struct Owner: Sendable, Equatable {
        /// The host that the issuer's tokens are stored under, with `:port` if the port isn't 443.
        public var environment: String
        /// The realm that distinguishes the issuer from others on its host.
        public var realm: String
        /// The client ID.
        public var clientID: String

        /// Creates an owner from its parts.
        public init(environment: String, realm: String, clientID: String) {
            self.environment = environment
            self.realm = realm
            self.clientID = clientID
        }
    }

    /// The configuration of the keyring.
    public let configuration: KeyringConfiguration

    /// Creates a store without contacting the keyring.
    public init(configuration: KeyringConfiguration) { self.configuration = configuration }

    /// Returns the secret of a client; nil if none is stored.
    ///
    /// - Throws: `locked` if it can't be known whether one is stored.
    public func secret(of owner: Owner) throws(KeyringError) -> ClientSecret? {
        try configuration.withKeyring { session throws(KeyringError) in
            let items = try session.readableItems(of: attributes(of: owner).dictionary, needsSecrets: true) {
                $0.isSecret(of: owner, group: configuration.group)
            }
            return items.lazy.filter { !$0.isLocked }.compactMap(\.clientSecret).first
        }
    }

    /// Stores a secret, replacing the client's current one at this issuer.
    public func store(_ secret: ClientSecret, of owner: Owner) throws(KeyringError) {
        var members: [String: JSONValue] = [Self.member: .string(secret.secret.reveal())]
        members[Self.end] = secret.expiresOn.map { .integer(Int64($0)) }
        let json = JSONValue.object(members).encodedWithLongEscapes()
        try configuration.withKeyring { session throws(KeyringError) in
            try session.openForStoring()
            try session.store(
                attributes(of: owner).stored,
                label: "lanyard: client secret for \(owner.environment.displayable(limit: 100))", secret: json,
                contentType: "application/json")
        }
    }

    /// Removes the secret of a client; false if none is stored.
    ///
    /// - Throws: `locked` if it may exist but can't be unlocked.
    public func remove(of owner: Owner) throws(KeyringError) -> Bool {
        try configuration.withKeyring { session throws(KeyringError) in
            let items = try session.deletableItems(of: attributes(of: owner).dictionary) {
                $0.isSecret(of: owner, group: configuration.group)
            }
            for item in items { try session.delete(item) }
            return !items.isEmpty
        }
    }

    fileprivate static let member = "client_secret"
    fileprivate static let end = "client_secret_expires_at"

    private func attributes(of owner: Owner) -> ItemAttributes { ItemAttributes(owner, group: configuration.group) }
}

extension ItemAttributes {
    /// The key of a client's secret.
    ///
    /// The environment is a URL, so that no search for the records of a host finds the item.
    fileprivate init(_ owner: ClientSecretStore.Owner, group: String) {
        self.init(
            group: group, kind: "client-secret", environment: "https://\(owner.environment.lowercased())",
            client: owner.clientID.clientKey, realm: owner.realm.lowercased())
    }
}

extension KeyringItem {
    /// Whether an item has the whole key of a client's secret: a keyring may find more than was asked for.
    func isSecret(of owner: ClientSecretStore.Owner, group: String) -> Bool {
        schema == ItemAttributes.schemaName
            && ItemAttributes(owner, group: group).dictionary.allSatisfy { attributes[$0.key] == $0.value }
    }

    /// The secret of a client that the item holds; nil if it holds none.
    var clientSecret: ClientSecret? {
        guard let members = secret.flatMap({ JSONValue(bytes: $0)?.members }),
            let text = members[ClientSecretStore.member]?.text, !text.isEmpty
        else { return nil }
        return ClientSecret(Secret(text), expiresOn: members[ClientSecretStore.end]?.time)
    }
}
