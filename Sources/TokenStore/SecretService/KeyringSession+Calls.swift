// The calls to the provider, one each. libsecret's own items and collections would ask six times as much: each of them
// is a proxy, which has its properties watched.
extension KeyringSession {
    /// How many calls are under way at once, each of which holds a file descriptor.
    private static let mostAtOnce = 16

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
        let search = try provider.search(attributes, patience)
        // The key takes this process as long as the search takes the provider.
        provider.finishSession()
        let reply = try search.wait()
        return Paths(unlocked: reply?.child(0)?.paths ?? [], locked: reply?.child(1)?.paths ?? [])
    }

    /// Reads the secrets of unlocked items, all at once; one that can't be read is left out.
    func secrets(of paths: [String]) throws(ProviderFailure) -> [String: [UInt8]] {
        guard !paths.isEmpty else { return [:] }
        return try provider.session(seconds: configuration.deadline).secrets(of: paths, patience)
    }

    /// Reads items' attributes; those that are gone are left out.
    ///
    /// Their other properties are not read: each takes gnome-keyring longer the more items there are.
    func items(at paths: [String], areLocked: Bool) throws(ProviderFailure) -> [KeyringItem] {
        var items: [KeyringItem] = []
        var rest = paths[...]
        while !rest.isEmpty {
            let some = rest.prefix(Self.mostAtOnce)
            rest = rest.dropFirst(some.count)
            let calls = some.map {
                ($0, provider.begin(readingOf: "Attributes", of: $0, "org.freedesktop.Secret.Item", patience))
            }
            for (path, call) in calls {
                guard let attributes = try value(of: call) else { continue }
                items.append(KeyringItem(path: path, isLocked: areLocked, attributes: attributes.texts))
            }
        }
        return items
    }

    /// When an item was last changed, in seconds since 1970; 0 where it is gone.
    func modified(_ item: KeyringItem) throws(ProviderFailure) -> UInt64 {
        let call = provider.begin(readingOf: "Modified", of: item.path, "org.freedesktop.Secret.Item", patience)
        return try value(of: call)?.number ?? 0
    }

    /// Whether a collection is locked; nil where it is not there.
    func isCollectionLocked(at path: String) throws(ProviderFailure) -> Bool? {
        guard let locked = try value(of: provider.beginReadingLock(of: path, patience)) else { return nil }
        return locked.bool ?? true
    }

    /// The value of a property that was asked for; nil where its object is not there.
    private func value(of call: PendingCall) throws(ProviderFailure) -> Variant? {
        do throws(ProviderFailure) {
            return try call.wait()?.child(0)?.child(0)
        } catch  where error.isMissingObject {
            return nil
        }
    }

    /// The D-Bus path of the configured collection, or nil where there is none.
    func collectionPath() throws(ProviderFailure) -> String? {
        do throws(ProviderFailure) {
            let alias = configuration.collection.rawValue
            let reply = try provider.begin("ReadAlias", [.text(alias)], giving: "(o)", patience).wait()
            return reply?.child(0)?.text.flatMap { $0 == "/" ? nil : $0 }
        } catch  where error.isMissingObject {
            return nil
        }
    }

    private var patience: Patience { .until(cancelled: watchdog.cancellable) }
}
