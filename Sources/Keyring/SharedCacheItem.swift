public import Secrets

/// The item of a cache that other programs share, in the user's default keyring.
public struct SharedCacheItem: Sendable {
    private let configuration: KeyringConfiguration
    private let schema: String
    private let attributes: [String: String]
    private let label: String

    /// Creates a reference to the item with this schema and exactly these attributes; one more would make it another
    /// item.
    ///
    /// The user is never asked to unlock the keyring, because a shared item is changed while holding its lock.
    public init(_ configuration: KeyringConfiguration, schema: String, attributes: [String: String], label: String) {
        var configuration = configuration
        configuration.collection = .default
        configuration.mayPrompt = false
        self.configuration = configuration
        self.schema = schema
        self.attributes = attributes
        self.label = label
    }

    /// Reads the item's contents; nil if there is no such item.
    ///
    /// - Throws: `locked` if that can't be known.
    public func contents() throws(KeyringError) -> [UInt8]? {
        try configuration.withKeyring { session throws(KeyringError) in
            try item(session)?.secret
        }
    }

    /// Replaces the item's contents, or creates the item.
    public func replace(_ contents: [UInt8]) throws(KeyringError) {
        try configuration.withKeyring { session throws(KeyringError) in
            if let item = try item(session) {
                return try session.replaceSecret(of: item, with: contents, contentType: "text/plain")
            }
            try session.openForStoring()
            try session.create(
                named, label: label, secret: contents, contentType: "text/plain", replacing: false)
        }
    }

    private var named: [String: String] { attributes.merging(["xdg:schema": schema]) { $1 } }

    private func item(_ session: any KeyringSession) throws(KeyringError) -> KeyringItem? {
        let items = try session.readableItems(of: named, needsSecrets: true) { $0.attributes == named }
        guard let item = items.first(where: { !$0.isLocked }) else {
            if items.isEmpty { return nil }
            throw KeyringError(.locked)
        }
        return item
    }
}

/// Other programs' items in the keyring; they are only read.
public struct OtherItems: Sendable {
    /// One item.
    public struct Item: Sendable, Equatable {
        /// The item's attributes, including `xdg:schema`.
        public var attributes: [String: String]
        /// The item's secret; nil if it isn't UTF-8.
        public var secret: Secret?
    }

    private let configuration: KeyringConfiguration

    /// Creates a reader of the user's default keyring, whichever collection lanyard itself uses.
    public init(configuration: KeyringConfiguration) {
        var configuration = configuration
        configuration.collection = .default
        self.configuration = configuration
    }

    /// Returns the items of a schema, or of any schema, that have at least these attributes.
    ///
    /// - Throws: `locked` if it can't be known whether there are any.
    public func items(schema: String?, attributes: [String: String] = [:]) throws(KeyringError) -> [Item] {
        var wanted = attributes
        if let schema { wanted["xdg:schema"] = schema }
        return try configuration.withKeyring { session throws(KeyringError) in
            let found = try session.readableItems(of: wanted, needsSecrets: true) { item in
                wanted.allSatisfy { item.attributes[$0.key] == $0.value }
            }
            return found.filter { !$0.isLocked }.map { item in
                let text = item.secret.flatMap { String(validating: $0, as: UTF8.self) }
                return Item(attributes: item.attributes, secret: text.map { Secret($0) })
            }
        }
    }
}
