internal import CSecret

extension KeyringSession {
    /// Whether the configured collection can be used.
    enum CollectionState {
        case unlocked, locked, missing
    }

    /// Looks at the configured collection without a prompt.
    func collectionState() throws(ProviderFailure) -> CollectionState {
        guard let path = try collectionPath(), let isLocked = try isCollectionLocked(at: path) else { return .missing }
        return isLocked ? .locked : .unlocked
    }

    /// Makes sure that items can be stored: unlocks or makes the collection where the person may be asked.
    func openForStoring() throws(ProviderFailure) {
        guard let path = try collectionPath(), let isLocked = try isCollectionLocked(at: path) else {
            return try createCollection()
        }
        if isLocked { try unlock([path]) }
    }

    /// Makes sure that an empty search means that nothing is stored, and tells whether it has to be done again.
    func openForReading() throws(ProviderFailure) -> Bool {
        // An alias is an object too, with most providers; if it isn't, what it stands for is.
        if try isCollectionLocked(at: configuration.collection.aliasPath) == false { return false }
        guard let path = try collectionPath(), try isCollectionLocked(at: path) == true else { return false }
        try unlock([path])
        return true
    }

    /// Lets the provider ask the person, once, to unlock items or collections.
    ///
    /// - Throws: `locked` where nobody may be asked, `denied` where the person does not want to.
    func unlock(_ paths: [String]) throws(ProviderFailure) {
        guard mayPrompt else { throw .found(StoreError(.locked)) }
        let service = try provider.service(watchdog)
        let count = try watchdog.paused { () throws(ProviderFailure) in
            try TextList.with(paths) { list throws(ProviderFailure) in
                try calling { secret_service_unlock_dbus_paths_sync(service, list, nil, nil, $0) }
            }
        }
        guard count > 0 else { throw .found(StoreError(.denied, detail: "the keyring was not unlocked")) }
    }

    private func createCollection() throws(ProviderFailure) {
        guard mayPrompt, configuration.collection == .default else { throw .found(StoreError(.noDefaultCollection)) }
        let service = try provider.service(watchdog)
        let created: GRef?
        do throws(ProviderFailure) {
            let pointer = try watchdog.paused { () throws(ProviderFailure) in
                try calling {
                    secret_collection_create_sync(
                        service, "Login", configuration.collection.rawValue, SECRET_COLLECTION_CREATE_NONE, nil,
                        $0)
                }
            }
            created = GRef(owned: pointer)
        } catch  where error.isMissingObject {
            // After a prompt that was dismissed the provider names a collection that is not there.
            created = nil
        }
        guard created != nil else { throw .found(StoreError(.noDefaultCollection)) }
    }
}
