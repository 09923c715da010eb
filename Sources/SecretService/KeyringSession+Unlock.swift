internal import CGLib

extension KeyringSession {
    /// Returns the state of the collection, without a prompt.
    ///
    /// - Throws: `locked` or `noDefaultCollection` if it can't be used.
    package func requireUnlocked() throws(ServiceFailure) {
        guard let path = try collectionPath(), let isLocked = try isCollectionLocked(at: path) else {
            throw ServiceFailure(.noDefaultCollection)
        }
        if isLocked { throw ServiceFailure(.locked) }
    }

    /// Prepares for storing items: unlocks or creates the collection if the user may be asked.
    ///
    /// - Returns: The D-Bus path of the collection.
    package func openForStoring() throws(ServiceFailure) -> String {
        guard let path = try collectionPath(), let isLocked = try isCollectionLocked(at: path) else {
            return try createCollection()
        }
        if isLocked { try unlock([path]) }
        return path
    }

    /// Ensures that an empty search means that nothing is stored; true if the search has to be repeated.
    func openForReading() throws(ServiceFailure) -> Bool {
        // With most providers an alias is an object, too; if it isn't, the collection it stands for is.
        let alias = "/org/freedesktop/secrets/aliases/\(access.alias)"
        if try isCollectionLocked(at: alias) == false { return false }
        guard let path = try collectionPath(), try isCollectionLocked(at: path) == true else { return false }
        try unlock([path])
        return true
    }

    /// Lets the provider ask the user, once, to unlock items or collections.
    ///
    /// - Throws: `locked` if the user may not be asked, `denied` if they declined.
    func unlock(_ paths: [String]) throws(ServiceFailure) {
        guard mayPrompt else { throw ServiceFailure(.locked) }
        let count = try watchdog.paused { () throws(ServiceFailure) in
            try TextList.with(paths) { list throws(ServiceFailure) in
                try throwing { secret_service_unlock_dbus_paths_sync(provider.service, list, nil, nil, $0) }
            }
        }
        guard count > 0 else { throw ServiceFailure(.denied, detail: "the keyring was not unlocked") }
    }

    private func createCollection() throws(ServiceFailure) -> String {
        guard mayPrompt, !access.isConfined else { throw ServiceFailure(.noDefaultCollection) }
        let properties = try HashTable(propertiesOf: Self.collection, label: "Login")
        let created = try watchdog.paused { () throws(ServiceFailure) in
            try throwing {
                secret_service_create_collection_dbus_path_sync(
                    provider.service, properties.pointer, access.alias, SECRET_COLLECTION_CREATE_NONE, nil, $0)
            }
        }
        defer { g_free(created) }
        // After a dismissed prompt, the provider returns a collection that doesn't exist.
        guard let path = created.map({ String(cString: $0) }), try isCollectionLocked(at: path) != nil else {
            throw ServiceFailure(.noDefaultCollection)
        }
        return path
    }
}
