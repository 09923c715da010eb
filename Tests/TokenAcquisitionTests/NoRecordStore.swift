import TokenStore

/// A store that stores nothing.
struct NoRecordStore: RecordStore {
    var mayPrompt: Bool { false }
    func problem() -> StoreError? { nil }
    func records(matching query: RecordQuery) -> StoredRecords { StoredRecords() }
    func current(_ found: StoredRecords) -> StoredRecords? { nil }
    func save(_ records: [CredentialRecord]) {}
    func delete(_ records: [CredentialRecord]) -> Int { 0 }
    func deleteUnchanged(_ records: [CredentialRecord]) -> Int { 0 }
}
