/// Moves what lanyard and git keep from one keyring to another: first all is copied and compared, then the originals are
/// deleted.
///
/// Run again after an interruption, it goes on.
public struct KeyringMove: Sendable {
    private let source: KeyringConfiguration
    private let target: KeyringConfiguration

    /// Prepares a move of everything in this group, and of git's passwords.
    public init(from source: any Keyring, to target: any Keyring, group: String) {
        self.source = KeyringConfiguration(source, group: group)
        self.target = KeyringConfiguration(target, group: group)
    }

    private struct Item {
        var item: KeyringItem
        var label: String
    }

    private static let schemas = [ItemAttributes.schemaName, PasswordItem.schemaName, PasswordItem.olderSchemaName]

    /// Returns the number of items to be moved.
    ///
    /// - Throws: `locked` if it can't be known.
    public func count() throws(KeyringError) -> Int { try found().count }

    /// Copies every item and compares the copies.
    public func copy() throws(KeyringError) {
        let found = try found()
        try target.withKeyring { session throws(KeyringError) in
            try session.openForStoring()
            for found in found {
                guard let secret = found.item.secret else {
                    throw KeyringError(.broken, detail: "an item of the keyring can't be read")
                }
                guard try self.copy(of: found.item, session)?.secret != secret else { continue }
                try session.create(
                    found.item.attributes, label: found.label, secret: secret, contentType: "text/plain",
                    replacing: false)
                guard try self.copy(of: found.item, session)?.secret == secret else {
                    throw KeyringError(.broken, detail: "an item was not stored as it is")
                }
            }
        }
    }

    /// Deletes every item whose copy is there.
    public func delete() throws(KeyringError) {
        for found in try found() {
            let isThere = try target.withKeyring { session throws(KeyringError) in
                try copy(of: found.item, session)?.secret == found.item.secret
            }
            // One that was stored or changed since then isn't deleted.
            guard isThere else { continue }
            try source.withKeyring { session throws(KeyringError) in try session.delete(found.item) }
        }
    }

    private func copy(of item: KeyringItem, _ session: any KeyringSession) throws(KeyringError) -> KeyringItem? {
        let same = try session.readableItems(of: item.attributes, needsSecrets: true) {
            $0.attributes == item.attributes
        }
        return same.first { !$0.isLocked && $0.secret == item.secret } ?? same.first { !$0.isLocked }
    }

    private func found() throws(KeyringError) -> [Item] {
        try source.withKeyring { session throws(KeyringError) in
            var found: [Item] = []
            for schema in Self.schemas {
                let items = try session.readableItems(of: ["xdg:schema": schema], needsSecrets: true) { item in
                    item.schema == schema
                        && (schema != ItemAttributes.schemaName || item.attributes["group"] == source.group)
                }
                for item in items {
                    guard !item.isLocked else { throw KeyringError(.locked) }
                    found.append(Item(item: item, label: try session.label(of: item) ?? ""))
                }
            }
            return found
        }
    }
}
