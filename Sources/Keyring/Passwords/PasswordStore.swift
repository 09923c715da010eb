public import Addresses
internal import AnswerCache
internal import Secrets

/// git's passwords in a keyring, in the schema of git-credential-libsecret.
///
/// Passwords stored by that helper are found, replaced and erased here, and the other way round; so are those that
/// Debian 12's build stores under GNOME's old network schema. Unlike the helper's, the matching is exact: a path is
/// part of the key, and a missing part matches only a missing one. Cached answers contain no passwords, so changes
/// don't clear them.
public struct PasswordStore: Sendable {
    /// The configuration of the keyring; the group matters only for authorizations.
    public let configuration: KeyringConfiguration
    /// The hosts whose paths have no case.
    private let caseless: HostTrait

    /// Seconds to wait for other processes that store, while a keyring answers one after the other.
    private static let patience = 5.0

    /// Creates a store without contacting the keyring; `caseless` are the hosts whose paths have no case.
    public init(configuration: KeyringConfiguration, caseless: HostTrait = .none) {
        self.configuration = configuration
        self.caseless = caseless
    }

    /// Finds the stored password or authorization for a query; if there are several, the one stored last.
    ///
    /// - Parameters:
    ///   - query: The place and the user; `password` and `credential` are ignored.
    ///   - now: Seconds since 1970; passwords that expired before then aren't found.
    ///   - isMeant: Whether passwords at a path of the host may be found.
    /// - Returns: The password; nil if nothing valid is stored, which is no error.
    /// - Throws: `locked` if it can't be known whether one is stored, or another error that prevents the search.
    public func get(
        _ query: PasswordQuery, now: Int, at isMeant: (String) -> Bool = { _ in true }
    ) throws(KeyringError) -> StoredPassword? {
        try configuration.withKeyring { session throws(KeyringError) in
            try session.stored(
                for: query, session.passwordItems(for: query, needsSecrets: true, caseless),
                group: configuration.group, caseless, at: isMeant
            ).first { $0.expiresOn.map { $0 > now } ?? true }
        }
    }

    /// Stores a password or an authorization, replacing the same user's for the same URL.
    ///
    /// If it is already stored like this, and would be found first without a user name, nothing is written: git stores
    /// after each use. A token of the same group is never stored as a password.
    ///
    /// - Returns: Whether the password is stored now; false if it is a token.
    @discardableResult
    public func store(_ password: StoredPassword, for query: PasswordQuery) throws(KeyringError) -> Bool {
        var query = query
        query.username = password.username
        let lock = lock(within: Self.patience)
        defer { withExtendedLifetime(lock) {} }
        var anybody = query
        anybody.username = nil
        return try configuration.withKeyring { session throws(KeyringError) in
            var isFree = true
            let found = try session.passwordItems(for: anybody, needsSecrets: true, caseless) { isFree = false }
            let stored = try session.stored(for: anybody, found, group: configuration.group, caseless)
            guard stored.first != password else { return true }
            try session.openForStoring()
            guard try !session.holdsToken(password.fingerprints, group: configuration.group) else { return false }
            switch password.proof {
            case .password where password.hasLines:
                guard query.acceptsLines else {
                    throw KeyringError(.broken, detail: "a password with a line feed can't be kept")
                }
                try session.storeOwn(.lines, password, for: query, group: configuration.group)
            case .password(let secret):
                try session.store(
                    secret, of: password, for: query, beside: found, isFree: isFree && found.isEmpty, caseless)
                guard query.acceptsLines else { break }
                let outdated = try session.own(
                    .lines, for: query, group: configuration.group, needsSecrets: false, caseless)
                for item in outdated { try session.delete(item.item) }
            case .authorization:
                try session.storeOwn(.authorization, password, for: query, group: configuration.group)
            }
            return true
        }
    }

    /// Locks out other lanyard processes that store, because storing is a search followed by a change.
    ///
    /// Returns nil if that isn't possible. Then two processes at the same time may store a password twice; the newer
    /// one counts.
    private func lock(within seconds: Double) -> LockFile? {
        guard
            let file = try? configuration.keyring.locks.open("passwords"),
            (try? file.lock(within: seconds)) == true
        else { return nil }
        return file
    }

    /// Erases everything that matches, and returns the number of items.
    ///
    /// A query with a password erases only equal passwords, one with a credential only equal authorizations, and one
    /// with a label only passwords.
    public func erase(_ query: PasswordQuery) throws(KeyringError) -> Int {
        try configuration.withKeyring { session throws(KeyringError) in
            let needsSecrets = query.password ?? query.credential != nil
            var items: [PasswordItem] = []
            if query.credential == nil {
                items += try session.passwords(for: query, needsSecrets: needsSecrets, caseless)
                if query.acceptsLines {
                    items += try session.own(
                        .lines, for: query, group: configuration.group, needsSecrets: needsSecrets, caseless)
                }
            }
            if query.password == nil, query.label == nil {
                items += try session.own(
                    .authorization, for: query, group: configuration.group, needsSecrets: needsSecrets, caseless)
            }
            var count = 0
            for item in items where item.isProvenBy(query) {
                guard try session.isLabelled(item, query.label) else { continue }
                try session.delete(item.item)
                count += 1
            }
            return count
        }
    }

    /// One of git's passwords and where it is used.
    public struct Listed: Sendable, Equatable {
        /// The place and the user.
        public var query: PasswordQuery
        /// The stored password.
        public var password: StoredPassword
    }

    /// Returns every password that git stored in the user's default keyring, whichever collection this store uses.
    ///
    /// - Throws: `locked` if it can't be known whether there are any.
    public func listed() throws(KeyringError) -> [Listed] {
        let items = OtherItems(configuration: configuration)
        var listed: [Listed] = []
        for schema in [PasswordItem.schemaName, PasswordItem.olderSchemaName] {
            listed += try items.items(schema: schema).compactMap(Listed.init)
        }
        return listed
    }

    /// Returns the rest of each password's label after this prefix, with the user name; reads the secrets only of those
    /// with several lines, whose user name is in there.
    ///
    /// - Throws: `locked` if it can't be known whether there are any.
    public func labelled(_ prefix: String) throws(KeyringError) -> [String: String] {
        try configuration.withKeyring { session throws(KeyringError) in
            let attributes = ["xdg:schema": PasswordItem.schemaName]
            let items = try session.readableItems(of: attributes, needsSecrets: false) {
                $0.schema == PasswordItem.schemaName
            }
            let own = ["group": configuration.group, "kind": OwnPassword.lines.rawValue]
            let others = try session.readableItems(of: own, needsSecrets: true) { item in
                item.schema == ItemAttributes.schemaName && own.allSatisfy { item.attributes[$0.key] == $0.value }
            }
            var labelled: [String: String] = [:]
            for item in items + others where !item.isLocked {
                guard let label = try session.label(of: item), label.utf8.starts(with: prefix.utf8) else { continue }
                let username =
                    item.attributes["user"] ?? item.secret.flatMap { StoredPassword(ownSecret: $0) }?.username
                labelled[String(Substring(label.utf8.dropFirst(prefix.utf8.count)))] = username ?? ""
            }
            return labelled
        }
    }
}

extension KeyringSession {
    /// Whether the item's label has this prefix; true if the prefix is nil.
    fileprivate func isLabelled(_ item: PasswordItem, _ prefix: String?) throws(KeyringError) -> Bool {
        guard let prefix else { return true }
        return try label(of: item.item)?.utf8.starts(with: prefix.utf8) ?? false
    }

    /// Everything that is stored for the query, expired or not, the newest first: these passwords, and authorizations.
    fileprivate func stored(
        for query: PasswordQuery, _ passwords: [KeyringItem], group: String, _ caseless: HostTrait,
        at isMeant: (String) -> Bool = { _ in true }
    ) throws(KeyringError) -> [StoredPassword] {
        var found = passwords.filter { !$0.isLocked }.map(PasswordItem.init)
        for (kind, isAccepted) in [(OwnPassword.authorization, query.acceptsAuthtype), (.lines, query.acceptsLines)]
        where isAccepted {
            found += try own(kind, for: query, group: group, needsSecrets: true, caseless)
        }
        found.removeAll { !isMeant($0.path) }
        if found.count > 1 {
            for index in found.indices { found[index].modified = try modified(found[index].item) }
        }
        return query.nearest(found).sorted(by: PasswordItem.isNewer).compactMap { item in
            var password = item.password
            password?.path = item.path
            return password
        }
    }

    /// Stores a password in git's schema; its attributes vary, so an existing item has to be found before it is
    /// replaced.
    ///
    /// `stored` is all that is stored for the same place, whoever's it is; the place is free if no other item at all has
    /// its attributes.
    fileprivate func store(
        _ secret: Secret, of password: StoredPassword, for query: PasswordQuery, beside stored: [KeyringItem],
        isFree: Bool, _ caseless: HostTrait
    ) throws(KeyringError) {
        guard let content = password.itemSecret(secret) else {
            throw KeyringError(.broken, detail: "a password with a line feed can't be kept")
        }
        let contentType = "text/plain"
        // Whose a locked one is may not show.
        let known =
            stored.contains(where: \.isLocked)
            ? try passwordItems(for: query, needsSecrets: false, caseless) : stored
        let existing = known.filter {
            !$0.isLocked && $0.attributes["user"].map { Array($0.utf8) } == query.username.map { Array($0.utf8) }
        }
        for item in existing { try replaceSecret(of: item, with: content, contentType: contentType) }
        guard existing.isEmpty else { return }
        let address = PasswordAddress(query)
        var attributes = address.attributes
        attributes["user"] = query.username
        var isNew = isFree
        if !isNew {
            let others = try search(attributes)
            isNew = others.unlocked.isEmpty && others.locked.isEmpty
        }
        try create(
            attributes.ofSchema(PasswordItem.schemaName), label: (query.label ?? address.label).displayable(),
            secret: content, contentType: contentType, replacing: isNew)
    }

    fileprivate func storeOwn(
        _ kind: OwnPassword, _ password: StoredPassword, for query: PasswordQuery, group: String
    ) throws(KeyringError) {
        let attributes = ItemAttributes(
            of: kind, at: PasswordAddress(query), username: password.username, group: group)
        let what = kind == .lines ? "password" : "authorization"
        let label = query.label ?? "lanyard: \(what) for \(attributes.environment.displayable(limit: 100))"
        try store(
            attributes.stored, label: label.displayable(), secret: password.ownSecret, contentType: "application/json")
    }
}

extension PasswordQuery {
    /// Returns the items at the place that takes precedence.
    fileprivate func nearest(_ items: [PasswordItem]) -> [PasswordItem] {
        switch reach {
        case .place: return items
        case .above:
            let depth = items.map(\.depth).max()
            return items.filter { $0.depth == depth }
        case .below:
            let own = items.filter { $0.depth == 0 }
            return own.isEmpty && Set(items.map(\.path)).count == 1 ? items : own
        }
    }
}

extension PasswordItem {
    fileprivate var depth: Int { URLPath(path).depth }
}

extension PasswordStore.Listed {
    /// Converts an item; nil if it isn't for a URL or isn't text.
    fileprivate init?(_ item: OtherItems.Item) {
        let username = item.attributes["user"]
        guard let address = PasswordAddress(item.attributes), let secret = item.secret,
            let stored = StoredPassword(itemSecret: Array(secret.reveal().utf8), username: username)
        else { return nil }
        let host = address.server + (address.port.map { ":\($0)" } ?? "")
        query = PasswordQuery(
            scheme: address.scheme, host: host, path: address.path.isEmpty ? nil : address.path, username: username)
        password = stored
    }
}
