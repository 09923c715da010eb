internal import CSecret

extension KeyringSession {
    /// Whether the configured collection can be used.
    enum CollectionState {
        case unlocked, locked, missing
    }

    /// Looks at the configured collection without a prompt.
    func collectionState() throws(ProviderFailure) -> CollectionState {
        guard let collection = try collection() else { return .missing }
        return secret_collection_get_locked(collection.pointer) == 0 ? .unlocked : .locked
    }

    /// The D-Bus path of the configured collection, or nil where there is none.
    func collectionPath() throws(ProviderFailure) -> String? {
        guard let collection = try collection() else { return nil }
        return UnsafeMutableRawPointer(collection.pointer).assumingMemoryBound(to: GDBusProxy.self).objectPath
    }

    /// Makes sure that items can be stored: unlocks or makes the collection where the person may be asked.
    func openForStoring() throws(ProviderFailure) {
        guard let collection = try collection() else { return try createCollection() }
        guard secret_collection_get_locked(collection.pointer) != 0 else { return }
        try unlock([UnsafeMutableRawPointer(collection.pointer)])
    }

    /// Makes sure that an empty search means that nothing is stored, and tells whether it has to be done again.
    func openForReading() throws(ProviderFailure) -> Bool {
        guard let collection = try collection(), secret_collection_get_locked(collection.pointer) != 0 else {
            return false
        }
        try unlock([UnsafeMutableRawPointer(collection.pointer)])
        return true
    }

    /// Lets the provider ask the person, once, to unlock items or collections.
    ///
    /// - Throws: `locked` where nobody may be asked, `denied` where the person does not want to.
    func unlock(_ objects: [UnsafeMutableRawPointer]) throws(ProviderFailure) {
        guard mayPrompt else { throw .found(StoreError(.locked)) }
        var list: UnsafeMutablePointer<GList>?
        for object in objects { list = g_list_prepend(list, object) }
        defer { g_list_free(list) }
        let count = try watchdog.paused { () throws(ProviderFailure) in
            try calling { secret_service_unlock_sync(service.pointer, list, nil, nil, $0) }
        }
        guard count > 0 else { throw .found(StoreError(.denied, detail: "the keyring was not unlocked")) }
    }

    private func createCollection() throws(ProviderFailure) {
        guard mayPrompt, configuration.collection == .default else { throw .found(StoreError(.noDefaultCollection)) }
        let created = try existing { () throws(ProviderFailure) in
            try watchdog.paused { () throws(ProviderFailure) in
                try calling {
                    secret_collection_create_sync(
                        service.pointer, "Login", configuration.collection.rawValue, SECRET_COLLECTION_CREATE_NONE, nil,
                        $0)
                }
            }
        }
        guard created != nil else { throw .found(StoreError(.noDefaultCollection)) }
    }

    /// The configured collection, or nil where there is none.
    func collection() throws(ProviderFailure) -> GRef<SecretCollection>? {
        try existing { () throws(ProviderFailure) in
            try calling {
                secret_collection_for_alias_sync(
                    service.pointer, configuration.collection.rawValue, SECRET_COLLECTION_NONE, watchdog.cancellable,
                    $0)
            }
        }
    }

    /// A collection, or nil where the provider names one that is not there: after a dismissed prompt it does.
    private func existing(
        _ collection: () throws(ProviderFailure) -> UnsafeMutablePointer<SecretCollection>?
    ) throws(ProviderFailure) -> GRef<SecretCollection>? {
        do throws(ProviderFailure) {
            return GRef(owned: try collection())
        } catch  where error.isMissingObject {
            return nil
        }
    }
}
