internal import SecretService

extension KeyringSession {
    /// The number of items in a group above which one search for each kind and client replaces a search for all.
    ///
    /// Each search makes the provider check every item there is, so a single search is best as long as it doesn't load
    /// many secrets that aren't needed.
    private static let most = 16

    /// Reads the records that match and can be read without unlocking, asking for as little as possible.
    ///
    /// A record's kind and owner come from the record itself, because reading an item's attributes would take another
    /// call.
    func unlockedRecords(matching query: RecordQuery, group: String) throws(ServiceFailure) -> StoredRecords {
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
    func holdsToken(_ fingerprints: Set<String>, group: String) throws(ServiceFailure) -> Bool {
        try unlockedRecords(matching: .tokens, group: group).hasToken(fingerprints)
    }

    /// Reads the items of records again; nil if one is missing or locked, or no longer holds a record.
    func records(at paths: [String]) throws(ServiceFailure) -> StoredRecords? {
        let secrets = try secrets(of: paths)
        var found = StoredRecords()
        for path in paths {
            guard let record = secrets[path].flatMap({ CredentialRecord(json: $0) }), record.isPlain else { return nil }
            found.append(record, at: path)
        }
        return found
    }

    private func paths(matching query: RecordQuery, group: String) throws(ServiceFailure) -> [String] {
        let schema = ItemAttributes.schemaName
        let broad = try reachable(query.searchAttributes(group: group).ofSchema(schema)).unlocked
        let searches = query.narrowSearches(group: group)
        guard broad.count > Self.most, searches.count < broad.count, query.isSelective else { return broad }
        var paths: [String] = []
        for search in searches { paths += try reachable(search.ofSchema(schema)).unlocked }
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

extension KeyringItem {
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
