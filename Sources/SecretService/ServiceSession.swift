internal import CGLib
internal import Glibc
internal import Keyring

/// A connection to the Secret Service for a single operation, on one thread and within a deadline.
final class ServiceSession: KeyringSession {
    let provider: Provider
    let watchdog: Watchdog
    let configuration: KeyringConfiguration
    let mayPrompt: Bool
    /// Whether it is this process's turn to have the keyring unlocked or created by the user.
    let hasTurn: Bool
    /// The variables of the process.
    let environment: [String: String]
    /// Whether the operation runs for the second time, because something was wrong with the connection.
    let isRepeated: Bool
    /// The D-Bus path of the collection that was opened for storing; empty if none was.
    var opened = ""

    init(
        _ provider: Provider, _ watchdog: Watchdog, _ configuration: KeyringConfiguration, mayPrompt: Bool,
        hasTurn: Bool, environment: [String: String], isRepeated: Bool
    ) {
        self.provider = provider
        self.watchdog = watchdog
        self.configuration = configuration
        self.mayPrompt = mayPrompt
        self.hasTurn = hasTurn
        self.environment = environment
        self.isRepeated = isRepeated
    }

    /// The time in microseconds in which a provider takes the place of another.
    private static let replacement: UInt32 = 200_000

    static let service = "org.freedesktop.Secret.Service"
    static let servicePath = "/org/freedesktop/secrets"
    static let item = "org.freedesktop.Secret.Item"
    static let collection = "org.freedesktop.Secret.Collection"

    /// Calls a method of the provider's, or of the process with this name on the bus.
    func call(
        _ method: String, of interface: String, at path: String, owner: String? = nil, _ arguments: [NewVariant],
        giving reply: String
    ) throws(KeyringError) -> Variant? {
        try provider.bus.call(
            method, of: interface, at: path, owner: owner ?? provider.name, arguments, giving: reply, watchdog)
    }

    /// Finds items, as D-Bus paths; if the configuration's collection is the session's, only in that.
    func search(_ attributes: [String: String]) throws(KeyringError) -> (unlocked: [String], locked: [String]) {
        var paths = try everywhere(attributes)
        guard configuration.collection == .session else { return paths }
        guard let collection = try opened.isEmpty ? collectionPath() : opened else { return ([], []) }
        paths.unlocked.removeAll { !$0.hasPrefix(collection + "/") }
        paths.locked.removeAll { !$0.hasPrefix(collection + "/") }
        return paths
    }

    /// Finds items in all collections.
    ///
    /// In a keyring that hasn't been unlocked since its daemon started, a search with a schema (`xdg:schema`) finds
    /// nothing, so "locked" can't be told from "not stored".
    private func everywhere(
        _ attributes: [String: String]
    ) throws(KeyringError) -> (unlocked: [String], locked: [String]) {
        let table = try HashTable(attributes: attributes)
        var unlocked, locked: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let service = provider.service
        let reply = provider.reply {
            secret_service_search_for_dbus_paths(service, nil, table.pointer, watchdog.cancellable, $0, $1)
        }
        do throws(KeyringError) {
            try watchdog.succeeding {
                secret_service_search_for_dbus_paths_finish(service, reply.result, &unlocked, &locked, $1)
            }
        } catch  where error.isMissingObject {
            // A daemon that is being replaced gives its methods back before its name.
            if !isRepeated { usleep(Self.replacement) }
            throw error.worthRepeating
        }
        return ([String](consuming: unlocked), [String](consuming: locked))
    }

    /// Reads secrets in one call; if none of them can be read, in a new session, too.
    func secrets(of paths: [String]) throws(KeyringError) -> [String: [UInt8]] {
        guard !paths.isEmpty else { return [:] }
        try provider.requireSession(watchdog)
        let secrets = try loaded(paths)
        // The keys of a session may differ (KWallet before 6.30, now and then), and then nothing can be decrypted.
        for path in paths where secrets[path] == nil {
            guard try property("Locked", of: path, Self.item)?.bool == false else { continue }
            let failure = KeyringError(.broken, detail: "what it keeps can't be read")
            guard isRepeated else { throw failure.worthRepeating }
            guard !secrets.isEmpty else { throw failure }
        }
        return secrets
    }

    private func loaded(_ paths: [String]) throws(KeyringError) -> [String: [UInt8]] {
        let table = try paths.withCList { list throws(KeyringError) in
            do throws(KeyringError) {
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

    /// Reads the attributes of items.
    ///
    /// Their other properties aren't read: for each, gnome-keyring takes longer the more items there are.
    func items(at paths: [String], areLocked: Bool) throws(KeyringError) -> [KeyringItem] {
        var items: [KeyringItem] = []
        for path in paths {
            guard let attributes = try property("Attributes", of: path, Self.item) else { continue }
            items.append(KeyringItem(path: path, isLocked: areLocked, attributes: attributes.texts))
        }
        return items
    }

    func modified(_ item: KeyringItem) throws(KeyringError) -> UInt64 {
        try property("Modified", of: item.path, Self.item)?.number ?? 0
    }

    func label(of item: KeyringItem) throws(KeyringError) -> String? {
        try property("Label", of: item.path, Self.item)?.text
    }

    /// Whether a collection is locked; nil if it doesn't exist.
    func isCollectionLocked(at path: String) throws(KeyringError) -> Bool? {
        guard let locked = try property("Locked", of: path, Self.collection) else { return nil }
        return locked.bool ?? true
    }

    /// Returns the D-Bus path of the collection; nil if there is none.
    func collectionPath() throws(KeyringError) -> String? {
        do throws(KeyringError) {
            let path = try watchdog.calling {
                secret_service_read_alias_dbus_path_sync(provider.service, configuration.collection.rawValue, $0, $1)
            }
            defer { g_free(path) }
            return path.map { String(cString: $0) }
        } catch  where error.isMissingObject {
            return nil
        }
    }

    /// Whether there is an item at a path.
    func exists(_ path: String) throws(KeyringError) -> Bool {
        try property("Locked", of: path, Self.item) != nil
    }

    /// Reads a property of an object; nil if the object doesn't exist.
    func property(
        _ name: String, of path: String, _ interface: String
    ) throws(KeyringError) -> Variant? {
        do throws(KeyringError) {
            return try provider.bus.property(name, of: path, interface, owner: provider.name, watchdog)
        } catch  where error.isMissingObject {
            return nil
        }
    }

    /// Stores an item in the opened collection.
    ///
    /// `CreateItem` would replace the item's other attributes, too, and some providers ask before that.
    func store(
        _ attributes: [String: String], label: String, secret: [UInt8], contentType: String
    ) throws(KeyringError) {
        if let known = try known(attributes) {
            return try replaceSecret(at: known, with: secret, contentType: contentType)
        }
        try create(attributes, label: label, secret: secret, contentType: contentType, replacing: true)
    }

    func create(
        _ attributes: [String: String], label: String, secret: [UInt8], contentType: String, replacing: Bool
    ) throws(KeyringError) {
        let properties = try NewVariant.properties(of: Self.item, label: label, attributes: attributes)
        let content = try encoded(secret, contentType, in: opened)
        let reply = try withSession { () throws(KeyringError) in
            try call(
                "CreateItem", of: Self.collection, at: opened, [properties, content, .flag(replacing)],
                giving: "(oo)")
        }
        guard let prompt = reply?.child(1)?.path else {
            guard reply?.child(0)?.path != nil else { throw KeyringError(.broken, detail: "no item was made") }
            return
        }
        guard let path = try answer(to: prompt).path, try exists(path) else {
            throw KeyringError(.denied, detail: "the item was not made")
        }
    }

    func replaceSecret(of item: KeyringItem, with secret: [UInt8], contentType: String) throws(KeyringError) {
        try replaceSecret(at: item.path, with: secret, contentType: contentType)
    }

    func delete(_ item: KeyringItem) throws(KeyringError) {
        let reply: Variant?
        do throws(KeyringError) {
            reply = try call("Delete", of: Self.item, at: item.path, [], giving: "(o)")
        } catch  where error.isMissingObject {
            return
        }
        if let prompt = reply?.child(0)?.path { _ = try answer(to: prompt) }
        guard try !exists(item.path) else { throw KeyringError(.denied, detail: "the item is still there") }
    }

    private func replaceSecret(at path: String, with secret: [UInt8], contentType: String) throws(KeyringError) {
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
        let content = try encoded(secret, contentType, in: String(Substring(path.utf8[..<end])))
        _ = try withSession { () throws(KeyringError) in
            try call("SetSecret", of: Self.item, at: path, [content], giving: "()")
        }
    }

    /// Returns the path of the item with these attributes, unlocked; nil if the opened collection has none.
    private func known(_ attributes: [String: String]) throws(KeyringError) -> String? {
        let found = try everywhere(attributes)
        let folder = opened + "/"
        if let path = found.unlocked.first(where: { $0.hasPrefix(folder) }) { return path }
        guard let path = found.locked.first(where: { $0.hasPrefix(folder) }) else { return nil }
        try unlock([path])
        return path
    }

    /// Encrypts a secret for the session.
    private func encoded(
        _ secret: [UInt8], _ contentType: String, in collection: String
    ) throws(KeyringError) -> NewVariant {
        let content = try SecretContent(faithful(secret, contentType, in: collection), contentType)
        try provider.requireSession(watchdog)
        return NewVariant(made: secret_service_encode_dbus_secret(provider.service, content.pointer))
    }

    /// Makes a call that needs the session; a provider that doesn't know it, or the object, is asked again.
    private func withSession(_ body: () throws(KeyringError) -> Variant?) throws(KeyringError) -> Variant? {
        do throws(KeyringError) {
            return try body()
        } catch  where error.isMissingObject {
            throw error.worthRepeating
        }
    }

    /// Returns the labels of the collections that are locked while the default one isn't; nil if that is locked, too, or
    /// if there is none.
    func lockedBesideDefault() throws(KeyringError) -> [String]? {
        guard let path = try collectionPath(), try isCollectionLocked(at: path) == false else { return nil }
        guard let all = try property("Collections", of: Self.servicePath, Self.service) else { return [] }
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
