internal import SecretService

extension KeyringConfiguration {
    /// Adds to an error what is locked, who can open it, or who keeps the provider from starting.
    func explain(_ error: inout StoreError) {
        switch error.reason {
        case .locked, .noDefaultCollection:
            error.provider = (try? connection.provider(deadline: deadline))?.flatMap(\.programName)
            if error.reason == .locked { error.lock = lockBesideDefault() }
        case .timedOut, .busy:
            // The bus answers at once, or not at all.
            do throws(StoreError) {
                let running = try connection.provider(deadline: 0.5)
                error.provider = running?.programName
                guard running == nil else { return }
                error.otherBus = KeyringProvider.blockingBus(environment: connection.environment)
            } catch {}
        default: break
        }
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
