internal import AnswerCache
internal import Secrets

/// Records in a keyring, one item each.
///
/// Every call blocks its thread for some milliseconds, at most for the configuration's deadline and the time that the
/// user takes to answer a prompt.
public struct RecordStore: Sendable {
    /// The configuration of the keyring.
    public let configuration: KeyringConfiguration

    /// Creates a store without contacting the keyring.
    public init(configuration: KeyringConfiguration) { self.configuration = configuration }

    /// Whether the user may be asked to unlock the keyring.
    public var mayPrompt: Bool { configuration.mayPrompt }

    /// A store of the same items that never asks the user.
    public var withoutPrompts: RecordStore {
        var configuration = configuration
        configuration.mayPrompt = false
        return RecordStore(configuration: configuration)
    }

    /// Tells why items can't be read and stored, without a prompt and within the deadline; nil if they can.
    public func problem() -> KeyringError? {
        do throws(KeyringError) {
            try configuration.withKeyring { session throws(KeyringError) in try session.requireUnlocked() }
            return nil
        } catch {
            return error
        }
    }

    /// Tells why items can't be read although the default keyring is open, without a prompt; nil if they can.
    public func problemOfItems() -> KeyringError? {
        let schemas = [ItemAttributes.schemaName, PasswordItem.schemaName]
        do throws(KeyringError) {
            try configuration.withKeyring { session throws(KeyringError) in
                for schema in schemas where try !session.search(["xdg:schema": schema]).locked.isEmpty {
                    throw KeyringError(.locked)
                }
            }
            return nil
        } catch {
            return error.lock == nil ? nil : error
        }
    }

    /// Reads the records that match.
    ///
    /// Matching items that can't be read are listed in `unreadable`. It isn't an error if nothing is found, not even
    /// without a keyring. A locked keyring is an error, because it can't be known whether it has matching items.
    public func records(matching query: RecordQuery) throws(KeyringError) -> StoredRecords {
        try configuration.withKeyring { session throws(KeyringError) in
            let found = try session.unlockedRecords(matching: query, group: configuration.group)
            if !found.isEmpty { return found }
            // No readable item is lanyard's; find out whether that is because something is locked.
            let items = try session.readableItems(
                of: query.searchAttributes(group: configuration.group), needsSecrets: true
            ) { item in
                isOurs(item) && query.kind(of: item.attributes) != nil
                    || query.secretOwner.map { item.isSecret(of: $0, group: configuration.group) } ?? false
            }
            return StoredRecords(items, for: query, group: configuration.group)
        }
    }

    /// Reads the same items again, in one call and without a search; nil if one of them can't be read there.
    public func current(_ found: StoredRecords) -> StoredRecords? {
        guard !found.paths.isEmpty else { return nil }
        return try? configuration.withKeyring { session throws(KeyringError) in
            try session.records(at: found.paths)
        }
    }

    /// Stores records, each replacing the one with the same key.
    ///
    /// Records are stored one by one; if one fails, those before it are stored.
    public func save(_ records: [CredentialRecord]) throws(KeyringError) {
        guard !records.isEmpty else { return }
        try configuration.withKeyring { session throws(KeyringError) in
            try session.openForStoring()
            // If there is no keyring to change, the tokens that are remembered instead must stay valid.
            try configuration.changing { () throws(KeyringError) in
                for record in records {
                    let attributes = ItemAttributes(record, group: configuration.group)
                    try session.store(
                        attributes.stored, label: record.label, secret: record.json, contentType: "application/json")
                }
            }
        }
    }

    /// Deletes the records that match, and returns their number.
    ///
    /// If one of them is locked and may not be unlocked, nothing is deleted.
    public func delete(matching query: RecordQuery) throws(KeyringError) -> Int {
        try delete(query.searchAttributes(group: configuration.group)) { query.kind(of: $0) != nil }
    }

    /// Deletes the items that have exactly these records' keys, whatever they hold now, and returns their number.
    public func delete(_ records: [CredentialRecord]) throws(KeyringError) -> Int {
        try delete(records, ifUnchanged: false)
    }

    /// Deletes the items that still hold these records' tokens, and returns their number; replacements stay.
    public func deleteUnchanged(_ records: [CredentialRecord]) throws(KeyringError) -> Int {
        try delete(records, ifUnchanged: true)
    }

    private func delete(_ records: [CredentialRecord], ifUnchanged: Bool) throws(KeyringError) -> Int {
        var count = 0
        for record in records {
            let key = ItemAttributes(record, group: configuration.group).dictionary
            count += try delete(key, holding: ifUnchanged ? record : nil) { attributes in
                key.allSatisfy { attributes[$0.key] == $0.value }
            }
        }
        return count
    }

    /// Deletes the items that hold no usable record, and returns their number.
    ///
    /// An item whose secret can't be loaded stays, because it isn't known what it holds.
    public func deleteDamaged() throws(KeyringError) -> Int {
        try configuration.changing { () throws(KeyringError) in
            try configuration.withKeyring { session throws(KeyringError) in
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
    ) throws(KeyringError) -> Int {
        try configuration.changing { () throws(KeyringError) in
            try configuration.withKeyring { session throws(KeyringError) in
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

    /// Whether an item is lanyard's; items of another schema are neither read nor deleted.
    private func isOurs(_ item: KeyringItem) -> Bool {
        item.schema == ItemAttributes.schemaName && item.attributes["group"] == configuration.group
    }
}

extension KeyringItem {
    fileprivate var isDamaged: Bool {
        guard let kind = RecordQuery.all.kind(of: attributes), case .damaged = content(as: kind) else { return false }
        return true
    }

    enum Content {
        case record(CredentialRecord)
        /// The secret couldn't be loaded.
        case absent
        /// Not a usable record, and the reason.
        case damaged(String)
    }

    /// Parses the item's secret as a record of this kind.
    func content(as kind: CredentialKind) -> Content {
        guard let secret else { return .absent }
        guard let record = CredentialRecord(kind: kind, json: secret) else {
            return .damaged("is not the JSON that was expected")
        }
        return record.isPlain ? .record(record) : .damaged("holds characters that do not belong there")
    }
}

extension CredentialRecord {
    /// The item's label, which keyring managers show; it doesn't reveal the owner.
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

extension KeyringSession {
    /// The number of items in a group above which one search for each kind and client replaces a search for all.
    ///
    /// Each search makes the keyring check every item there is, so a single search is best as long as it doesn't load
    /// many secrets that aren't needed.
    private static var most: Int { 16 }

    /// Reads the records that match and can be read without unlocking, asking for as little as possible.
    ///
    /// A record's kind and owner come from the record itself, because reading an item's attributes would take another
    /// call.
    func unlockedRecords(matching query: RecordQuery, group: String) throws(KeyringError) -> StoredRecords {
        var found = StoredRecords()
        let paths = try paths(matching: query, group: group)
        let secrets = try secrets(of: paths)
        for path in paths {
            if let record = secrets[path].flatMap({ CredentialRecord(json: $0) }), record.isPlain {
                if query.matches(record) { found.append(record, at: path) }
            } else if var item = try items(at: [path], areLocked: false).first {
                item.secret = secrets[path]
                found.append(item, for: query, group: group)
            }
        }
        return found
    }

    /// Whether a readable access token of the group, or the result of an exchange, has one of these fingerprints.
    func holdsToken(_ fingerprints: Set<String>, group: String) throws(KeyringError) -> Bool {
        try unlockedRecords(matching: .tokens, group: group).hasToken(fingerprints)
    }

    /// Reads the items of records again; nil if one is missing or locked, or no longer holds a record.
    func records(at paths: [String]) throws(KeyringError) -> StoredRecords? {
        let secrets = try secrets(of: paths)
        var found = StoredRecords()
        for path in paths {
            guard let record = secrets[path].flatMap({ CredentialRecord(json: $0) }), record.isPlain else { return nil }
            found.append(record, at: path)
        }
        return found
    }

    private func paths(matching query: RecordQuery, group: String) throws(KeyringError) -> [String] {
        let schema = ItemAttributes.schemaName
        let broad = try search(query.searchAttributes(group: group).ofSchema(schema)).unlocked
        let searches = query.narrowSearches(group: group)
        guard broad.count > Self.most, searches.count < broad.count, query.isSelective else { return broad }
        var paths: [String] = []
        for attributes in searches { paths += try search(attributes.ofSchema(schema)).unlocked }
        return paths
    }
}

extension StoredRecords {
    /// Converts the items that a query found; those that can't be read are listed in `unreadable`.
    init(_ items: [KeyringItem], for query: RecordQuery, group: String) {
        for item in items {
            if item.isLocked {
                unreadable.append("an item is locked")
            } else {
                append(item, for: query, group: group)
            }
        }
    }

    mutating func append(_ item: KeyringItem, for query: RecordQuery, group: String) {
        if let kind = query.kind(of: item.attributes) {
            append(item, of: kind)
        } else if let owner = query.secretOwner, item.isSecret(of: owner, group: group) {
            clientSecret = clientSecret ?? item.clientSecret
        }
    }

    private mutating func append(_ item: KeyringItem, of kind: CredentialKind) {
        switch item.content(as: kind) {
        case .record(let record): append(record, at: item.path)
        case .absent: unreadable.append("an item of kind \(kind.rawValue) has no secret")
        case .damaged(let reason):
            unreadable.append("an item of kind \(kind.rawValue) \(reason)")
            hasDamaged = true
        }
    }
}
