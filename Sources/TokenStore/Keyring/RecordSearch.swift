internal import SecretService

extension KeyringSession {
    /// Above so many items in a group the provider is asked for those of each kind and client instead of for all.
    ///
    /// Each search makes the provider look at every item there is, so that one search is best as long as it doesn't
    /// find many secrets that nobody asked for.
    private static let most = 16

    /// Reads the records that match and can be read without unlocking; asks for as little as can be.
    ///
    /// What a record is, and whose, is told by the record itself: an item's attributes would take a call each.
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

    /// Reads the items of records once more; nil if one is gone, is locked or holds no record any more.
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
    /// Reads items that a query found; those that can't be read are told of.
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
    /// What an item's secret turned out to be.
    enum Content {
        case record(CredentialRecord)
        /// It could not be had.
        case absent
        /// No record that could be used, and why.
        case damaged(String)
    }

    /// The item's secret as a record of a kind.
    func content(as kind: CredentialKind) -> Content {
        guard let secret else { return .absent }
        guard let record = CredentialRecord(kind: kind, json: secret) else {
            return .damaged("is not the JSON that was expected")
        }
        return record.isPlain ? .record(record) : .damaged("holds characters that do not belong there")
    }
}
