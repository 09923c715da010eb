/// Where records are kept.
public protocol RecordStore: Sendable {
    /// Whether a person may be asked to open what is locked.
    var mayPrompt: Bool { get }

    /// Why records can't be read and stored there, found out without a prompt; nil if they can.
    func problem() -> StoreError?

    /// The records that match; finding nothing is no error.
    func records(matching query: RecordQuery) throws(StoreError) -> StoredRecords

    /// What was found as it is now, read where it was found; nil if some of it can't be read there, so that only a search
    /// tells.
    ///
    /// What was added since is not seen.
    func current(_ found: StoredRecords) -> StoredRecords?

    /// Stores records, each in place of the one with the same key.
    func save(_ records: [CredentialRecord]) throws(StoreError)

    /// Deletes what is kept under exactly these records' keys, whatever it is by now, and tells how many.
    func delete(_ records: [CredentialRecord]) throws(StoreError) -> Int

    /// Deletes what still holds these records' tokens, and tells how many: what replaced one stays.
    func deleteUnchanged(_ records: [CredentialRecord]) throws(StoreError) -> Int
}
