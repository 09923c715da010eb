extension KeyringSession {
    /// Finds items to read; locked ones are unlocked where the person may be asked.
    ///
    /// - Parameters:
    ///   - attributes: what to ask the provider for.
    ///   - search: whether their secrets are needed.
    ///   - matches: which of the readable ones are meant; it is not asked about locked ones, whose attributes may be
    ///     hidden. Locked ones are in the result where others could be read.
    /// - Returns: the items that are meant, and locked ones that may be.
    /// - Throws: `locked` where what is stored can't be known.
    func readableItems(
        of attributes: [String: String], _ search: Search, where matches: (KeyringItem) -> Bool
    ) throws(ProviderFailure) -> [KeyringItem] {
        var items = try found(attributes, search)
        let readable = items.filter { !$0.isLocked && matches($0) }
        if readable.isEmpty {
            let locked = items.filter { $0.isLocked && $0.isPossible(matches) }
            if !locked.isEmpty {
                try unlock(locked.map { UnsafeMutableRawPointer($0.pointer) })
                items = try found(attributes, search)
            } else if try openForReading() {
                items = try found(attributes, search)
            }
        }
        return items.filter { $0.isLocked ? $0.isPossible(matches) : matches($0) }
    }

    /// Finds items to delete: none of them is locked.
    func deletableItems(
        of attributes: [String: String], where matches: (KeyringItem) -> Bool
    ) throws(ProviderFailure) -> [KeyringItem] {
        var items = try readableItems(of: attributes, .attributes, where: matches)
        let locked = items.filter(\.isLocked)
        if !locked.isEmpty {
            try unlock(locked.map { UnsafeMutableRawPointer($0.pointer) })
            items = try found(attributes, .attributes).filter(matches)
        }
        return items
    }

    /// Searches; a store that is confined to the provider's memory sees nothing else.
    private func found(_ attributes: [String: String], _ search: Search) throws(ProviderFailure) -> [KeyringItem] {
        let items = try items(with: attributes, search)
        guard configuration.collection == .session else { return items }
        guard let path = try collectionPath() else { return [] }
        return items.filter { $0.path.hasPrefix(path + "/") }
    }
}

extension KeyringItem {
    /// Whether a locked item may be meant: its attributes match, or its keyring, never unlocked, hides them.
    fileprivate func isPossible(_ matches: (KeyringItem) -> Bool) -> Bool {
        schema == nil || matches(self)
    }
}
