internal import CGLib

// Nothing counts as stored or deleted before the provider says so or, after a prompt, the item shows it.

extension KeyringSession {
    /// Replaces the secret of the item that has at least these attributes, and keeps all that it has; creates one in the
    /// collection if there is none.
    ///
    /// The attributes include the schema. `CreateItem` would replace the item's other attributes, too, and some providers
    /// ask before that.
    package func store(
        _ attributes: [String: String], label: String, secret: [UInt8], contentType: String, in collection: String
    ) throws(ServiceFailure) {
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
    ) throws(ServiceFailure) {
        let properties = try NewVariant.properties(of: Self.item, label: label, attributes: attributes)
        let content = try encoded(secret, contentType, in: collection)
        let reply = try withSession { () throws(ServiceFailure) in
            try call(
                "CreateItem", of: Self.collection, at: collection, [properties, content, .flag(replacing)],
                giving: "(oo)")
        }
        guard let prompt = reply?.child(1)?.path else {
            guard reply?.child(0)?.path != nil else { throw ServiceFailure(.broken, detail: "no item was made") }
            return
        }
        guard let path = try answer(to: prompt).path, try exists(path) else {
            throw ServiceFailure(.denied, detail: "the item was not made")
        }
    }

    /// Replaces an item's secret.
    package func replaceSecret(
        of item: KeyringItem, with secret: [UInt8], contentType: String
    ) throws(ServiceFailure) {
        try replaceSecret(at: item.path, with: secret, contentType: contentType)
    }

    /// Deletes an item; it isn't an error if it no longer exists.
    package func delete(_ item: KeyringItem) throws(ServiceFailure) {
        let reply: Variant?
        do throws(ServiceFailure) {
            reply = try call("Delete", of: Self.item, at: item.path, [], giving: "(o)")
        } catch  where error.isMissingObject {
            return
        }
        if let prompt = reply?.child(0)?.path { _ = try answer(to: prompt) }
        guard try !exists(item.path) else { throw ServiceFailure(.denied, detail: "the item is still there") }
    }

    private func replaceSecret(at path: String, with secret: [UInt8], contentType: String) throws(ServiceFailure) {
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
        let content = try encoded(secret, contentType, in: String(Substring(path.utf8[..<end])))
        _ = try withSession { () throws(ServiceFailure) in
            try call("SetSecret", of: Self.item, at: path, [content], giving: "()")
        }
    }

    /// Returns the path of the item with these attributes, unlocked; nil if the collection has none.
    private func known(_ attributes: [String: String], in collection: String) throws(ServiceFailure) -> String? {
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
    ) throws(ServiceFailure) -> NewVariant {
        let content = try SecretContent(faithful(secret, contentType, in: collection), contentType)
        try provider.requireSession(watchdog)
        return NewVariant(made: secret_service_encode_dbus_secret(provider.service, content.pointer))
    }

    /// Makes a call that needs the session; a provider that doesn't know it, or the object, is asked again.
    private func withSession(_ body: () throws(ServiceFailure) -> Variant?) throws(ServiceFailure) -> Variant? {
        do throws(ServiceFailure) {
            return try body()
        } catch  where error.isMissingObject {
            throw error.worthRepeating
        }
    }
}
