/// A store of records.
public protocol RecordStore: Sendable {
    /// Whether the user may be asked to unlock the store.
    var mayPrompt: Bool { get }

    /// A copy of the store that never asks the user.
    var withoutPrompts: Self { get }

    /// Why records can't be read and stored there, found out without a prompt; nil if they can.
    func problem() -> StoreError?

    /// Returns the records that match; it isn't an error if there are none.
    func records(matching query: RecordQuery) throws(StoreError) -> StoredRecords

    /// Reads the same records again where they were found; nil if one of them can't be read there, so that a search is
    /// needed.
    ///
    /// Records that were added since aren't included.
    func current(_ found: StoredRecords) -> StoredRecords?

    /// Stores records, each replacing the one with the same key.
    func save(_ records: [CredentialRecord]) throws(StoreError)

    /// Deletes the items with exactly these records' keys, whatever they hold now, and returns their number.
    func delete(_ records: [CredentialRecord]) throws(StoreError) -> Int

    /// Deletes the items that still hold these records' tokens, and returns their number; replacements stay.
    func deleteUnchanged(_ records: [CredentialRecord]) throws(StoreError) -> Int
}
