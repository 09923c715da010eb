import PluginHost
import PluginWire
import Rules
package import TokenStore

extension TokenAcquirer {
    func load(_ place: AuthorityPlace) throws(AcquisitionError) -> StoredRecords {
        tell(.usingKeyring)
        let records = try storing { () throws(StoreError) in
            try store.records(matching: RecordQuery(environments: place.aliases))
        }
        if records.hasDamaged { tell(.skippingDamaged) }
        return records
    }

    /// The accounts of an authority among what is stored, and which of them a request's client uses.
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

    /// Refuses a keyring that could not keep what is about to be asked for.
    ///
    /// - Throws: the reason; nothing if the provider can ask the person to put it right.
    package func requireWritable() throws(StoreError) {
        guard let problem = store.problem() else { return }
        if store.mayPrompt, [.locked, .noDefaultCollection].contains(problem.reason) { return }
        throw problem
    }
}
