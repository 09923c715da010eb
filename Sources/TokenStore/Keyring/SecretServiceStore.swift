internal import SecretService
internal import Secrets

/// Records in the Secret Service, one item each.
///
/// Every call blocks its thread for some milliseconds, at most for the configuration's deadline and the time a person
/// takes to answer the provider's prompt. Values of this type hold no connection; libsecret keeps one for the process.
public struct SecretServiceStore: RecordStore {
    /// Where and how records are kept.
    public let configuration: KeyringConfiguration

    /// Makes a store; nothing is contacted yet.
    public init(configuration: KeyringConfiguration) { self.configuration = configuration }

    /// Whether the provider may ask the person to unlock the keyring.
    public var mayPrompt: Bool { configuration.mayPrompt }

    /// Tells why items can't be read and stored, without a prompt and within the deadline; nil if they can.
    public func problem() -> StoreError? {
        do throws(StoreError) {
            try configuration.withKeyring { session throws(ServiceFailure) in try session.requireUnlocked() }
            return nil
        } catch {
            return error
        }
    }

    /// Reads the records that match.
    ///
    /// Items that match and cannot be read are told of in `unreadable`. Finding nothing is not an error, not even
    /// without any keyring; it is one if the keyring is locked, because nobody can know then.
    public func records(matching query: RecordQuery) throws(StoreError) -> StoredRecords {
        try configuration.withKeyring { session throws(ServiceFailure) in
            let found = try session.unlockedRecords(matching: query, group: configuration.group)
            if !found.isEmpty { return found }
            // Nothing that can be read is ours: whether that is because something is locked takes a closer look.
            let items = try session.readableItems(
                of: query.searchAttributes(group: configuration.group), needsSecrets: true
            ) { item in
                isOurs(item) && query.kind(of: item.attributes) != nil
                    || query.secretOwner.map { item.isSecret(of: $0, group: configuration.group) } ?? false
            }
            return StoredRecords(items, for: query, group: configuration.group)
        }
    }

    /// Reads again what was found, in one call and without a search; nil if some of it can't be read where it was.
    public func current(_ found: StoredRecords) -> StoredRecords? {
        guard !found.paths.isEmpty else { return nil }
        return try? configuration.withKeyring { session throws(ServiceFailure) in
            try session.records(at: found.paths)
        }
    }

    /// Stores records, each in place of the one with the same key.
    ///
    /// Records are stored one after the other; if one fails, those before it are stored.
    public func save(_ records: [CredentialRecord]) throws(StoreError) {
        guard !records.isEmpty else { return }
        try configuration.withKeyring { session throws(ServiceFailure) in
            let collection = try session.openForStoring()
            // Where there is no keyring to change, what is remembered in its place stays.
            try configuration.changing { () throws(ServiceFailure) in
                for record in records {
                    let attributes = ItemAttributes(record, group: configuration.group)
                    try session.create(
                        attributes.stored, label: record.label, secret: record.json, contentType: "application/json",
                        in: collection)
                }
            }
        }
    }

    /// Deletes the records that match, and tells how many.
    ///
    /// If one of them is locked and may not be unlocked, nothing is deleted.
    public func delete(matching query: RecordQuery) throws(StoreError) -> Int {
        try delete(query.searchAttributes(group: configuration.group)) { query.kind(of: $0) != nil }
    }

    /// Deletes the items that have exactly these records' keys, whatever they hold now, and tells how many.
    public func delete(_ records: [CredentialRecord]) throws(StoreError) -> Int {
        try delete(records, ifUnchanged: false)
    }

    /// Deletes the items that still hold these records' tokens, and tells how many: what replaced one stays.
    public func deleteUnchanged(_ records: [CredentialRecord]) throws(StoreError) -> Int {
        try delete(records, ifUnchanged: true)
    }

    private func delete(_ records: [CredentialRecord], ifUnchanged: Bool) throws(StoreError) -> Int {
        var count = 0
        for record in records {
            let key = ItemAttributes(record, group: configuration.group).dictionary
            count += try delete(key, holding: ifUnchanged ? record : nil) { attributes in
                key.allSatisfy { attributes[$0.key] == $0.value }
            }
        }
        return count
    }

    /// Deletes the items that hold no record that could be used, and tells how many.
    ///
    /// One whose secret can't be had is left: nobody knows what it holds.
    public func deleteDamaged() throws(StoreError) -> Int {
        try configuration.changing { () throws(StoreError) in
            try configuration.withKeyring { session throws(ServiceFailure) in
                let items = try session.readableItems(
                    of: RecordQuery.all.searchAttributes(group: configuration.group), needsSecrets: true
                ) { isOurs($0) && RecordQuery.all.kind(of: $0.attributes) != nil }
                let damaged = items.filter { !$0.isLocked && $0.isDamaged }
                for item in damaged { try session.delete(item) }
                return damaged.count
            }
        }
    }

    private func delete(
        _ search: [String: String], holding record: CredentialRecord? = nil, where matches: ([String: String]) -> Bool
    ) throws(StoreError) -> Int {
        try configuration.changing { () throws(StoreError) in
            try configuration.withKeyring { session throws(ServiceFailure) in
                var items = try session.deletableItems(of: search) { isOurs($0) && matches($0.attributes) }
                if let record {
                    let secrets = try session.secrets(of: items.map(\.path))
                    items.removeAll { item in
                        let stored = secrets[item.path].flatMap { CredentialRecord(kind: record.kind, json: $0) }
                        return stored?.token != record.token
                    }
                }
                for item in items { try session.delete(item) }
                return items.count
            }
        }
    }

    /// Whether an item is one of ours; of another schema, nothing is read and nothing deleted.
    private func isOurs(_ item: KeyringItem) -> Bool {
        item.schema == ItemAttributes.schemaName && item.attributes["group"] == configuration.group
    }
}

extension KeyringItem {
    fileprivate var isDamaged: Bool {
        guard let kind = RecordQuery.all.kind(of: attributes), case .damaged = content(as: kind) else { return false }
        return true
    }
}

extension CredentialRecord {
    /// What a keyring's own interface shows for the item; nothing that tells whose it is.
    fileprivate var label: String {
        let host = environment.displayable(limit: 100)
        return switch self {
        case .accessToken: "lanyard: access token for \(host)"
        case .refreshToken: "lanyard: refresh token for \(host)"
        case .idToken: "lanyard: ID token for \(host)"
        case .account: "lanyard: account at \(host)"
        case .appMetadata: "lanyard: client at \(host)"
        case .exchanged(let result): "lanyard: credential for \(result.audience.displayable(limit: 100))"
        }
    }
}
