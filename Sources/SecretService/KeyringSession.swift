internal import CGLib

/// The part of the keyring that an operation uses, and its limits.
package struct KeyringAccess: Sendable {
    /// The alias of the collection for new items.
    package var alias: String
    /// Whether items elsewhere are ignored; if so, the collection isn't created either.
    package var isConfined: Bool
    /// The number of seconds that the provider may take for one call, except for a prompt that the user answers and for
    /// one that is busy, which may take fifteen times as long.
    package var deadline: Double
    /// Whether the provider may prompt the user; it never does over SSH.
    package var mayPrompt: Bool
    /// Whether it is this process's turn to have the keyring unlocked or created by the user; if it isn't, an operation
    /// that needs that ends with a failure that `wantsTurn`.
    package var hasTurn = false

    package init(alias: String, isConfined: Bool, deadline: Double, mayPrompt: Bool) {
        self.alias = alias
        self.isConfined = isConfined
        self.deadline = deadline
        self.mayPrompt = mayPrompt
    }
}

/// A connection to the Secret Service for a single operation, on one thread and within a deadline.
package struct KeyringSession: ~Copyable {
    let provider: Provider
    let watchdog: Watchdog
    let access: KeyringAccess
    let mayPrompt: Bool
    /// The variables of the process.
    let environment: [String: String]
    /// Whether the operation runs for the second time, because something was wrong with the connection.
    let isRepeated: Bool

    static let service = "org.freedesktop.Secret.Service"
    static let servicePath = "/org/freedesktop/secrets"
    static let item = "org.freedesktop.Secret.Item"
    static let collection = "org.freedesktop.Secret.Collection"

    /// Calls a method of the provider's, or of the process with this name on the bus.
    func call(
        _ method: String, of interface: String, at path: String, owner: String? = nil, _ arguments: [NewVariant],
        giving reply: String
    ) throws(ServiceError) -> Variant? {
        try provider.bus.call(
            method, of: interface, at: path, owner: owner ?? provider.name, arguments, giving: reply, watchdog)
    }

    /// The results of a search, as D-Bus paths.
    package struct Paths {
        /// The items that can be read.
        package var unlocked: [String] = []
        /// The items that must be unlocked first.
        package var locked: [String] = []
    }

    /// Finds the items that have at least these attributes, in any schema unless the attributes name one.
    ///
    /// This never unlocks anything. In a keyring that hasn't been unlocked since its daemon started, a search with a
    /// schema (`xdg:schema`) finds nothing, so "locked" can't be told from "not stored".
    package func search(_ attributes: [String: String]) throws(ServiceError) -> Paths {
        let table = try HashTable(attributes: attributes)
        var unlocked, locked: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let service = provider.service
        let reply = provider.reply {
            secret_service_search_for_dbus_paths(service, nil, table.pointer, watchdog.cancellable, $0, $1)
        }
        try watchdog.succeeding {
            secret_service_search_for_dbus_paths_finish(service, reply.result, &unlocked, &locked, $1)
        }
        return Paths(unlocked: TextList.consume(unlocked), locked: TextList.consume(locked))
    }

    /// Reads the secrets of unlocked items in one call, leaving out those that no longer exist or can't be read.
    ///
    /// - Throws: `broken` if there are items but none of them can be read, in a new session either.
    package func secrets(of paths: [String]) throws(ServiceError) -> [String: [UInt8]] {
        guard !paths.isEmpty else { return [:] }
        try provider.requireSession(watchdog)
        let secrets = try loaded(paths)
        // The keys of a session may differ (KWallet before 6.30, now and then), and then nothing can be decrypted.
        for path in paths where secrets[path] == nil {
            guard try property("Locked", of: path, Self.item)?.bool == false else { continue }
            let failure = ServiceError(.broken, detail: "what it keeps can't be read")
            guard isRepeated else { throw failure.worthRepeating }
            guard !secrets.isEmpty else { throw failure }
        }
        return secrets
    }

    private func loaded(_ paths: [String]) throws(ServiceError) -> [String: [UInt8]] {
        let table = try TextList.with(paths) { list throws(ServiceError) in
            do throws(ServiceError) {
                return try watchdog.calling {
                    secret_service_get_secrets_for_dbus_paths_sync(provider.service, list, $0, $1)
                }
            } catch  where error.isMissingObject {
                throw error.worthRepeating
            }
        }
        guard let table else { return [:] }
        defer { g_hash_table_unref(table) }
        var secrets: [String: [UInt8]] = [:]
        for path in paths {
            guard let value = g_hash_table_lookup(table, path) else { continue }
            var length: gsize = 0
            let start = secret_value_get(OpaquePointer(value), &length)
            secrets[path] = Self.restored([UInt8](UnsafeRawBufferPointer(start: start, count: Int(length))))
        }
        return secrets
    }

    /// Reads the attributes of items, leaving out items that no longer exist.
    ///
    /// Their other properties aren't read: for each, gnome-keyring takes longer the more items there are.
    package func items(at paths: [String], areLocked: Bool) throws(ServiceError) -> [KeyringItem] {
        var items: [KeyringItem] = []
        for path in paths {
            guard let attributes = try property("Attributes", of: path, Self.item) else { continue }
            items.append(KeyringItem(path: path, isLocked: areLocked, attributes: attributes.texts))
        }
        return items
    }

    /// Returns when an item was last changed, in seconds since 1970; 0 if it no longer exists.
    package func modified(_ item: KeyringItem) throws(ServiceError) -> UInt64 {
        try property("Modified", of: item.path, Self.item)?.number ?? 0
    }

    /// Returns the label that users see; nil if the item no longer exists.
    package func label(of item: KeyringItem) throws(ServiceError) -> String? {
        try property("Label", of: item.path, Self.item)?.text
    }

    /// Whether a collection is locked; nil if it doesn't exist.
    func isCollectionLocked(at path: String) throws(ServiceError) -> Bool? {
        guard let locked = try property("Locked", of: path, Self.collection) else { return nil }
        return locked.bool ?? true
    }

    /// Returns the D-Bus path of the collection; nil if there is none.
    func collectionPath() throws(ServiceError) -> String? {
        do throws(ServiceError) {
            let path = try watchdog.calling {
                secret_service_read_alias_dbus_path_sync(provider.service, access.alias, $0, $1)
            }
            defer { g_free(path) }
            return path.map { String(cString: $0) }
        } catch  where error.isMissingObject {
            return nil
        }
    }

    /// Whether there is an item at a path.
    func exists(_ path: String) throws(ServiceError) -> Bool {
        try property("Locked", of: path, Self.item) != nil
    }

    /// Reads a property of an object; nil if the object doesn't exist.
    func property(
        _ name: String, of path: String, _ interface: String
    ) throws(ServiceError) -> Variant? {
        do throws(ServiceError) {
            return try provider.bus.property(name, of: path, interface, owner: provider.name, watchdog)
        } catch  where error.isMissingObject {
            return nil
        }
    }

    /// Replaces the secret of the item that has at least these attributes, and keeps all that it has; creates one in the
    /// collection if there is none.
    ///
    /// The attributes include the schema. `CreateItem` would replace the item's other attributes, too, and some providers
    /// ask before that.
    package func store(
        _ attributes: [String: String], label: String, secret: [UInt8], contentType: String, in collection: String
    ) throws(ServiceError) {
        if let known = try known(attributes, in: collection) {
            return try replaceSecret(at: known, with: secret, contentType: contentType)
        }
        try create(attributes, label: label, secret: secret, contentType: contentType, in: collection, replacing: true)
    }

    /// Creates an item in a collection; if `replacing`, an item with *at least* its attributes becomes this one instead.
    ///
    /// The attributes include the schema.
    package func create(
        _ attributes: [String: String], label: String, secret: [UInt8], contentType: String,
        in collection: String, replacing: Bool
    ) throws(ServiceError) {
        let properties = try NewVariant.properties(of: Self.item, label: label, attributes: attributes)
        let content = try encoded(secret, contentType, in: collection)
        let reply = try withSession { () throws(ServiceError) in
            try call(
                "CreateItem", of: Self.collection, at: collection, [properties, content, .flag(replacing)],
                giving: "(oo)")
        }
        guard let prompt = reply?.child(1)?.path else {
            guard reply?.child(0)?.path != nil else { throw ServiceError(.broken, detail: "no item was made") }
            return
        }
        guard let path = try answer(to: prompt).path, try exists(path) else {
            throw ServiceError(.denied, detail: "the item was not made")
        }
    }

    /// Replaces an item's secret.
    package func replaceSecret(
        of item: KeyringItem, with secret: [UInt8], contentType: String
    ) throws(ServiceError) {
        try replaceSecret(at: item.path, with: secret, contentType: contentType)
    }

    /// Deletes an item; it isn't an error if it no longer exists.
    package func delete(_ item: KeyringItem) throws(ServiceError) {
        let reply: Variant?
        do throws(ServiceError) {
            reply = try call("Delete", of: Self.item, at: item.path, [], giving: "(o)")
        } catch  where error.isMissingObject {
            return
        }
        if let prompt = reply?.child(0)?.path { _ = try answer(to: prompt) }
        guard try !exists(item.path) else { throw ServiceError(.denied, detail: "the item is still there") }
    }

    private func replaceSecret(at path: String, with secret: [UInt8], contentType: String) throws(ServiceError) {
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
        let content = try encoded(secret, contentType, in: String(Substring(path.utf8[..<end])))
        _ = try withSession { () throws(ServiceError) in
            try call("SetSecret", of: Self.item, at: path, [content], giving: "()")
        }
    }

    /// Returns the path of the item with these attributes, unlocked; nil if the collection has none.
    private func known(_ attributes: [String: String], in collection: String) throws(ServiceError) -> String? {
        let found = try search(attributes)
        let folder = collection + "/"
        if let path = found.unlocked.first(where: { $0.hasPrefix(folder) }) { return path }
        guard let path = found.locked.first(where: { $0.hasPrefix(folder) }) else { return nil }
        try unlock([path])
        return path
    }

    /// Encrypts a secret for the session.
    private func encoded(
        _ secret: [UInt8], _ contentType: String, in collection: String
    ) throws(ServiceError) -> NewVariant {
        let content = try SecretContent(faithful(secret, contentType, in: collection), contentType)
        try provider.requireSession(watchdog)
        return NewVariant(made: secret_service_encode_dbus_secret(provider.service, content.pointer))
    }

    /// Makes a call that needs the session; a provider that doesn't know it, or the object, is asked again.
    private func withSession(_ body: () throws(ServiceError) -> Variant?) throws(ServiceError) -> Variant? {
        do throws(ServiceError) {
            return try body()
        } catch  where error.isMissingObject {
            throw error.worthRepeating
        }
    }

    /// Finds items to read, unlocking locked ones if the user may be asked.
    ///
    /// - Parameters:
    ///   - attributes: The attributes to search for.
    ///   - needsSecrets: Whether to load the secrets of the matching items.
    ///   - matches: Whether a readable item matches; it isn't called for locked items whose attributes may be hidden.
    ///     Locked items are included in the result if others could be read.
    /// - Returns: The matching items, and locked ones that may match.
    /// - Throws: `locked` if it can't be known which items are stored.
    package func readableItems(
        of attributes: [String: String], needsSecrets: Bool, where matches: (KeyringItem) -> Bool
    ) throws(ServiceError) -> [KeyringItem] {
        var items = try found(attributes)
        if !items.contains(where: { !$0.isLocked && matches($0) }) {
            let locked = items.filter { $0.isLocked && $0.isPossible(matches) }
            if !locked.isEmpty {
                try unlock(locked.map(\.path))
                items = try found(attributes)
            } else if try openForReading() {
                items = try found(attributes)
            }
        }
        items = items.filter { $0.isLocked ? $0.isPossible(matches) : matches($0) }
        guard needsSecrets else { return items }
        let secrets = try secrets(of: items.filter { !$0.isLocked }.map(\.path))
        for index in items.indices { items[index].secret = secrets[items[index].path] }
        return items
    }

    /// Finds items to delete, none of which is locked.
    package func deletableItems(
        of attributes: [String: String], where matches: (KeyringItem) -> Bool
    ) throws(ServiceError) -> [KeyringItem] {
        var items = try readableItems(of: attributes, needsSecrets: false, where: matches)
        let locked = items.filter(\.isLocked)
        if !locked.isEmpty {
            try unlock(locked.map(\.path))
            items = try found(attributes).filter(matches)
        }
        return items
    }

    /// Returns the paths of the items that a search finds, only in the session's collection if it is confined to that.
    package func reachable(_ attributes: [String: String]) throws(ServiceError) -> Paths {
        var paths = try search(attributes)
        guard access.isConfined else { return paths }
        guard let folder = try collectionPath().map({ $0 + "/" }) else { return Paths() }
        paths.unlocked.removeAll { !$0.hasPrefix(folder) }
        paths.locked.removeAll { !$0.hasPrefix(folder) }
        return paths
    }

    private func found(_ attributes: [String: String]) throws(ServiceError) -> [KeyringItem] {
        let paths = try reachable(attributes)
        return try items(at: paths.unlocked, areLocked: false) + items(at: paths.locked, areLocked: true)
    }

    /// Returns the labels of the collections that are locked while the default one isn't; nil if that is locked, too, or
    /// if there is none.
    package func lockedBesideDefault() throws(ServiceError) -> [String]? {
        guard let path = try collectionPath(), try isCollectionLocked(at: path) == false else { return nil }
        let service = "org.freedesktop.Secret.Service"
        guard let all = try property("Collections", of: "/org/freedesktop/secrets", service) else { return [] }
        var labels: [String] = []
        var index = 0
        while let path = all.child(index)?.path {
            index += 1
            guard try isCollectionLocked(at: path) == true else { continue }
            labels.append(try property("Label", of: path, Self.collection)?.text ?? "")
        }
        return labels
    }
}

/// One item in the state in which a search found it.
package struct KeyringItem {
    /// The D-Bus path of the item, which begins with its collection's.
    package var path: String
    /// Whether the item must be unlocked before its secret can be read.
    package var isLocked: Bool
    /// The item's attributes, including `xdg:schema`; empty if its keyring was never unlocked.
    package var attributes: [String: String]
    /// The secret; nil if it wasn't requested or couldn't be loaded.
    package var secret: [UInt8]?

    /// The item's schema; nil if the provider doesn't report it.
    package var schema: String? { attributes["xdg:schema"] }

    /// Whether a locked item may match: its attributes match, or are hidden because its keyring was never unlocked.
    func isPossible(_ matches: (KeyringItem) -> Bool) -> Bool {
        schema == nil || matches(self)
    }
}

// Nothing counts as stored or deleted before the provider says so or, after a prompt, the item shows it.
