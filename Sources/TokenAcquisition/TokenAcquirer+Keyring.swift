import PluginHost
import PluginWire
import Rules
package import TokenStore

extension TokenAcquirer {
    func load(_ place: AuthorityPlace) throws(AcquisitionError) -> StoredRecords {
        try load(RecordQuery(environments: place.aliases))
    }

    /// What is stored at an authority, with the client's secret if there may be one; takes one search.
    func load(_ authority: AuthorityMatch, for clientID: String) throws(AcquisitionError) -> StoredRecords {
        let place = authority.place
        var query = RecordQuery(environments: place.aliases)
        if clientSecrets != nil, authority.plugin.takesClientSecrets {
            query.secretOwner = ClientSecretStore.Owner(clientID, at: place)
        }
        return try load(query)
    }

    private func load(_ query: RecordQuery) throws(AcquisitionError) -> StoredRecords {
        tell(.usingKeyring)
        let records = try storing { () throws(StoreError) in try store.records(matching: query) }
        if records.hasDamaged { tell(.skippingDamaged) }
        return records
    }

    /// Returns the accounts of an authority among the records, and which of them a request's client uses.
    func known(
        _ records: StoredRecords, _ authority: AuthorityMatch, _ request: TokenRequest,
        _ history: [SelectedAccount]? = nil
    ) -> AccountSelection {
        AccountSelection(
            records, at: authority.place, clientID: request.clientID, history: history ?? selection?.read() ?? [],
            isShared: isShared)
    }

    func storing<Result>(_ body: () throws(StoreError) -> Result) throws(AcquisitionError) -> Result {
        do { return try body() } catch { throw .store(error) }
    }

    /// Checks that the keyring can store the result of a sign-in that is about to start.
    ///
    /// - Throws: The reason why it can't; nothing if the provider can ask the user to fix it.
    package func requireWritable() throws(StoreError) {
        guard let problem = store.problem() else { return }
        if store.mayPrompt, [.locked, .noDefaultCollection].contains(problem.reason) { return }
        throw problem
    }
}
