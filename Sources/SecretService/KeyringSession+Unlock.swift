internal import CGLib

extension KeyringSession {
    /// Returns the state of the collection, without a prompt.
    ///
    /// - Throws: `locked` or `noDefaultCollection` if it can't be used.
    package func requireUnlocked() throws(ServiceFailure) {
        guard let path = try collectionPath(), let isLocked = try isCollectionLocked(at: path) else {
            throw ServiceFailure(.noDefaultCollection)
        }
        if isLocked, case .prompt = try unlocking([path]) { throw ServiceFailure(.locked) }
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

    /// Unlocks items or collections; if that takes a prompt, lets the provider ask the user, once.
    ///
    /// - Throws: `locked` if the user may not be asked, `denied` if they declined.
    func unlock(_ paths: [String]) throws(ServiceFailure) {
        guard case .prompt(let prompt) = try unlocking(paths) else { return }
        try requireTurn(or: .locked)
        guard try answer(to: prompt).count > 0 else {
            throw ServiceFailure(.denied, detail: "the keyring was not unlocked").declined
        }
    }

    private enum Unlocking {
        /// Everything is unlocked, or as much as is without a prompt.
        case done
        case prompt(String)
    }

    /// Asks the provider to unlock what it can without a prompt, such as a keyring that has no password.
    private func unlocking(_ paths: [String]) throws(ServiceFailure) -> Unlocking {
        let reply = try call(
            "Unlock", of: Self.service, at: Self.servicePath, [.paths(paths)], giving: "(aoo)")
        guard let prompt = reply?.child(1)?.path else {
            guard (reply?.child(0)?.count ?? 0) > 0 else { throw ServiceFailure(.locked) }
            return .done
        }
        return .prompt(prompt)
    }

    private func createCollection() throws(ServiceFailure) -> String {
        guard !access.isConfined else { throw ServiceFailure(.noDefaultCollection) }
        try requireTurn(or: .noDefaultCollection)
        let properties = try NewVariant.properties(of: Self.collection, label: "Login")
        let reply = try call(
            "CreateCollection", of: Self.service, at: Self.servicePath, [properties, .text(access.alias)],
            giving: "(oo)")
        var made = reply?.child(0)?.path
        if let prompt = reply?.child(1)?.path {
            do throws(ServiceFailure) {
                made = try answer(to: prompt).path
            } catch  where error.reason == .denied {
                throw ServiceFailure(.noDefaultCollection, detail: error.detail).declined
            }
        }
        // After a dismissed prompt, a provider may return a collection that doesn't exist.
        guard let path = made, try isCollectionLocked(at: path) != nil else {
            throw ServiceFailure(.noDefaultCollection)
        }
        return path
    }

    /// Checks that the user may be asked now, in this process and in no other.
    private func requireTurn(or reason: ServiceFailure.Reason) throws(ServiceFailure) {
        guard mayPrompt else { throw ServiceFailure(reason) }
        guard access.hasTurn else { throw ServiceFailure(reason).wantingTurn }
    }
}
