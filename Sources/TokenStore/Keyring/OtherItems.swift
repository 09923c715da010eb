internal import SecretService
public import Secrets

/// Other programs' items in the Secret Service; they are only read.
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
    public func items(schema: String?, attributes: [String: String] = [:]) throws(StoreError) -> [Item] {
        var wanted = attributes
        if let schema { wanted["xdg:schema"] = schema }
        return try configuration.withKeyring { session throws(ServiceFailure) in
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
