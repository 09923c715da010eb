extension KeyringSession {
    /// Finds items to read; locked ones are unlocked if the person may be asked.
    ///
    /// - Parameters:
    ///   - attributes: what to ask the provider for.
    ///   - needsSecrets: whether the secrets of those that are meant are needed.
    ///   - matches: which of the readable ones are meant; it is not asked about locked ones, whose attributes may be
    ///     hidden. Locked ones are in the result if others could be read.
    /// - Returns: the items that are meant, and locked ones that may be.
    /// - Throws: `locked` if what is stored can't be known.
    package func readableItems(
        of attributes: [String: String], needsSecrets: Bool, where matches: (KeyringItem) -> Bool
    ) throws(ServiceFailure) -> [KeyringItem] {
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

    /// Finds items to delete: none of them is locked.
    package func deletableItems(
        of attributes: [String: String], where matches: (KeyringItem) -> Bool
    ) throws(ServiceFailure) -> [KeyringItem] {
        var items = try readableItems(of: attributes, needsSecrets: false, where: matches)
        let locked = items.filter(\.isLocked)
        if !locked.isEmpty {
            try unlock(locked.map(\.path))
            items = try found(attributes).filter(matches)
        }
        return items
    }

    /// The paths of what a search finds; one that is confined to its collection sees nothing else.
    package func reachable(_ attributes: [String: String]) throws(ServiceFailure) -> Paths {
        var paths = try search(attributes)
        guard access.isConfined else { return paths }
        guard let folder = try collectionPath().map({ $0 + "/" }) else { return Paths() }
        paths.unlocked.removeAll { !$0.hasPrefix(folder) }
        paths.locked.removeAll { !$0.hasPrefix(folder) }
        return paths
    }

    private func found(_ attributes: [String: String]) throws(ServiceFailure) -> [KeyringItem] {
        let paths = try reachable(attributes)
        return try items(at: paths.unlocked, areLocked: false) + items(at: paths.locked, areLocked: true)
    }
}

extension KeyringItem {
    /// Whether a locked item may be meant: its attributes match, or its keyring, never unlocked, hides them.
    func isPossible(_ matches: (KeyringItem) -> Bool) -> Bool {
        schema == nil || matches(self)
    }
}
