internal import SecretService

extension KeyringConfiguration {
    /// Adds to an error of a locked keyring what is locked, and who can open it.
    func explain(_ error: inout StoreError) {
        guard [.locked, .noDefaultCollection].contains(error.reason) else { return }
        error.provider = (try? connection.provider(deadline: deadline))?.flatMap(\.programName)
        if error.reason == .locked { error.lock = lockBesideDefault() }
    }

    /// Returns what can be locked although the default keyring is open; nil if it isn't open.
    private func lockBesideDefault() -> StoreError.Lock? {
        let access = KeyringAccess(
            alias: collection.rawValue, isConfined: collection == .session, deadline: deadline, mayPrompt: false)
        let labels = try? connection.service.run(access) { session throws(ServiceFailure) in
            try session.lockedBesideDefault()
        }
        guard let labels = labels ?? nil else { return nil }
        return labels.isEmpty ? .items : .keyrings(labels)
    }
}

extension SecretServiceStore {
    /// Tells why items can't be read although the default keyring is open, without a prompt; nil if they can.
    public func problemOfItems() -> StoreError? {
        let schemas = [ItemAttributes.schemaName, PasswordItem.schemaName]
        do throws(StoreError) {
            try configuration.withKeyring { session throws(ServiceFailure) in
                for schema in schemas where try !session.reachable(["xdg:schema": schema]).locked.isEmpty {
                    throw ServiceFailure(.locked)
                }
            }
            return nil
        } catch {
            return error.lock == nil ? nil : error
        }
    }
}
