internal import SecretService
public import Secrets

/// What other programs keep in the Secret Service; it is read and never changed.
public struct OtherItems: Sendable {
    /// One item.
    public struct Item: Sendable, Equatable {
        /// Its attributes, `xdg:schema` among them.
        public var attributes: [String: String]
        /// Its secret; nil if it is no UTF-8.
        public var secret: Secret?
    }

    private let configuration: KeyringConfiguration

    /// Makes a reader of the person's own keyring, whatever collection lanyard itself keeps to.
    public init(configuration: KeyringConfiguration) {
        var configuration = configuration
        configuration.collection = .default
        self.configuration = configuration
    }

    /// The items of a schema, or of any, that have at least these attributes.
    ///
    /// - Throws: `locked` if nobody can know whether there are any.
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
