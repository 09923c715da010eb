internal import CSecret

// The calls to the provider, one each. libsecret's own items and collections would ask six times as much: each of them
// is a proxy, which has its properties watched.
extension KeyringSession {
    /// What a search found: D-Bus paths.
    struct Paths {
        var unlocked: [String] = []
        var locked: [String] = []
    }

    /// Finds the items that have at least these attributes, whatever their schema where the attributes don't name one.
    ///
    /// Never unlocks. A search that names the schema (`xdg:schema`) finds nothing in a keyring that was not unlocked
    /// since its daemon started; "locked" can then not be told from "not stored".
    func search(_ attributes: [String: String]) throws(ProviderFailure) -> Paths {
        let reply = try provider.call("SearchItems", [.texts(attributes)], watchdog)
        return Paths(unlocked: reply?.child(0)?.paths ?? [], locked: reply?.child(1)?.paths ?? [])
    }

    /// Reads the secrets of unlocked items, all at once; one that can't be read is left out.
    func secrets(of paths: [String]) throws(ProviderFailure) -> [String: [UInt8]] {
        guard !paths.isEmpty else { return [:] }
        return try provider.session(seconds: configuration.deadline).secrets(of: paths, watchdog)
    }

    /// Reads an item's attributes; nil where it is gone.
    ///
    /// Its other properties are not read: each takes gnome-keyring longer the more items there are.
    func item(at path: String, isLocked: Bool) throws(ProviderFailure) -> KeyringItem? {
        guard let attributes = try property("Attributes", of: path, "org.freedesktop.Secret.Item") else { return nil }
        return KeyringItem(path: path, isLocked: isLocked, attributes: attributes.texts)
    }

    /// When an item was last changed, in seconds since 1970; 0 where it is gone.
    func modified(_ item: KeyringItem) throws(ProviderFailure) -> UInt64 {
        try property("Modified", of: item.path, "org.freedesktop.Secret.Item")?.number ?? 0
    }

    /// Whether a collection is locked; nil where it is not there.
    func isCollectionLocked(at path: String) throws(ProviderFailure) -> Bool? {
        guard let locked = try property("Locked", of: path, "org.freedesktop.Secret.Collection") else { return nil }
        return locked.bool ?? true
    }

    private func property(
        _ name: String, of path: String, _ interface: String
    ) throws(ProviderFailure) -> Variant? {
        do throws(ProviderFailure) {
            return try provider.call(
                "Get", of: "org.freedesktop.DBus.Properties", at: path, [.text(interface), .text(name)], watchdog)?
                .child(0)?.child(0)
        } catch  where error.isMissingObject {
            return nil
        }
    }

    /// The D-Bus path of the configured collection, or nil where there is none.
    func collectionPath() throws(ProviderFailure) -> String? {
        do throws(ProviderFailure) {
            let reply = try provider.call("ReadAlias", [.text(configuration.collection.rawValue)], watchdog)
            return reply?.child(0)?.text.flatMap { $0 == "/" ? nil : $0 }
        } catch  where error.isMissingObject {
            return nil
        }
    }
}
