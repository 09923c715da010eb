import Testing
import TokenStore

/// A keyring that can't be used.
struct UnusableStore: RecordStore {
    let reason: StoreError.Reason
    /// Whether the user may be asked; each call that might is then an issue.
    var mayPrompt = false

    var withoutPrompts: UnusableStore { UnusableStore(reason: reason) }

    func problem() -> StoreError? { StoreError(reason) }
    func records(matching query: RecordQuery) throws(StoreError) -> StoredRecords { throw failure() }
    func current(_ found: StoredRecords) -> StoredRecords? { nil }
    func save(_ records: [CredentialRecord]) throws(StoreError) { throw failure() }
    func delete(_ records: [CredentialRecord]) throws(StoreError) -> Int { throw failure() }
    func deleteUnchanged(_ records: [CredentialRecord]) throws(StoreError) -> Int { throw failure() }

    private func failure() -> StoreError {
        if mayPrompt { Issue.record("the keyring may ask the user") }
        return StoreError(reason)
    }
}
