public import Logging

/// Records in the Secret Service, one item each.
///
/// Every call blocks its thread for some milliseconds, at most for the configuration's deadline and the time a person
/// takes to answer the provider's prompt. Values of this type hold no connection; libsecret keeps one for the process.
public struct SecretServiceStore: Sendable {
    /// Where and how records are kept.
    public let configuration: KeyringConfiguration
    let logger: Logger

    /// Makes a store; nothing is contacted yet.
    ///
    /// - Parameters:
    ///   - configuration: where and how records are kept.
    ///   - logger: takes what GLib and libsecret have to say, which would else go to stderr.
    public init(configuration: KeyringConfiguration, logger: Logger = Logger(label: "lanyard.keyring")) {
        self.configuration = configuration
        self.logger = logger
    }

    /// Tells what the keyring is like, without a prompt and within the deadline.
    public func state() -> KeyringState { .failed("not connected") }

    /// Reads the records that match.
    ///
    /// Items that match and cannot be read are told of in `unreadable`. Finding nothing is not an error, unless the
    /// keyring is locked, so that nobody can know; that includes a user who has no keyring at all.
    public func records(matching query: RecordQuery) throws(StoreError) -> StoredRecords { throw StoreError(.broken) }

    /// Stores records, each in place of the one with the same key.
    public func save(_ records: [CredentialRecord]) throws(StoreError) { throw StoreError(.broken) }

    /// Deletes the records that match, and tells how many.
    ///
    /// Where one of them is locked, nothing is deleted.
    public func delete(matching query: RecordQuery) throws(StoreError) -> Int { throw StoreError(.broken) }

    /// Deletes the items that have exactly these records' keys, whatever they hold, and tells how many.
    public func delete(_ records: [CredentialRecord]) throws(StoreError) -> Int { throw StoreError(.broken) }
}
