internal import CGLib

extension KeyringSession {
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
    package func search(_ attributes: [String: String]) throws(ServiceFailure) -> Paths {
        let table = try HashTable(attributes: attributes)
        var unlocked, locked: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let service = provider.service
        let reply = provider.reply {
            secret_service_search_for_dbus_paths(service, nil, table.pointer, watchdog.cancellable, $0, $1)
        }
        try watchdog.succeeding {
            secret_service_search_for_dbus_paths_finish(service, reply.result, &unlocked, &locked, $1)
        }
        return Paths(unlocked: TextList.take(unlocked), locked: TextList.take(locked))
    }

    /// Reads the secrets of unlocked items in one call, leaving out those that no longer exist or can't be read.
    ///
    /// - Throws: `broken` if there are items but none of them can be read, in a new session either.
    package func secrets(of paths: [String]) throws(ServiceFailure) -> [String: [UInt8]] {
        guard !paths.isEmpty else { return [:] }
        try provider.requireSession(watchdog)
        let secrets = try loaded(paths)
        // The keys of a session may differ (KWallet before 6.30, now and then), and then nothing can be decrypted.
        for path in paths where secrets[path] == nil {
            guard try property("Locked", of: path, Self.item)?.bool == false else { continue }
            let failure = ServiceFailure(.broken, detail: "what it keeps can't be read")
            guard isRepeated else { throw failure.worthRepeating }
            guard !secrets.isEmpty else { throw failure }
        }
        return secrets
    }

    private func loaded(_ paths: [String]) throws(ServiceFailure) -> [String: [UInt8]] {
        let table = try TextList.with(paths) { list throws(ServiceFailure) in
            do throws(ServiceFailure) {
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
    package func items(at paths: [String], areLocked: Bool) throws(ServiceFailure) -> [KeyringItem] {
        var items: [KeyringItem] = []
        for path in paths {
            guard let attributes = try property("Attributes", of: path, Self.item) else { continue }
            items.append(KeyringItem(path: path, isLocked: areLocked, attributes: attributes.texts))
        }
        return items
    }

    /// Returns when an item was last changed, in seconds since 1970; 0 if it no longer exists.
    package func modified(_ item: KeyringItem) throws(ServiceFailure) -> UInt64 {
        try property("Modified", of: item.path, Self.item)?.number ?? 0
    }

    /// Returns the label that users see; nil if the item no longer exists.
    package func label(of item: KeyringItem) throws(ServiceFailure) -> String? {
        try property("Label", of: item.path, Self.item)?.text
    }

    /// Whether a collection is locked; nil if it doesn't exist.
    func isCollectionLocked(at path: String) throws(ServiceFailure) -> Bool? {
        guard let locked = try property("Locked", of: path, Self.collection) else { return nil }
        return locked.bool ?? true
    }

    /// Returns the D-Bus path of the collection; nil if there is none.
    func collectionPath() throws(ServiceFailure) -> String? {
        do throws(ServiceFailure) {
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
    func exists(_ path: String) throws(ServiceFailure) -> Bool {
        try property("Locked", of: path, Self.item) != nil
    }

    /// Reads a property of an object; nil if the object doesn't exist.
    func property(
        _ name: String, of path: String, _ interface: String
    ) throws(ServiceFailure) -> Variant? {
        do throws(ServiceFailure) {
            return try provider.bus.property(name, of: path, interface, owner: provider.name, watchdog)
        } catch  where error.isMissingObject {
            return nil
        }
    }
}
