extension KeyringSession {
    /// Finds items to read, unlocking locked ones if the user may be asked.
    ///
    /// - Parameters:
    ///   - attributes: The attributes to search for.
    ///   - needsSecrets: Whether to load the secrets of the matching items.
    ///   - matches: Whether a readable item matches; it isn't called for locked items whose attributes may be hidden.
    ///     Locked items are included in the result if others could be read.
    /// - Returns: The matching items, and locked ones that may match.
    /// - Throws: `locked` if it can't be known which items are stored.
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

    /// Finds items to delete, none of which is locked.
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

    /// Returns the paths of the items that a search finds, only in the session's collection if it is confined to that.
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
    /// Whether a locked item may match: its attributes match, or are hidden because its keyring was never unlocked.
    func isPossible(_ matches: (KeyringItem) -> Bool) -> Bool {
        schema == nil || matches(self)
    }
}
