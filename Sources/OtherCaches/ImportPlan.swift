import Addresses
import Claims
import JSON
public import Keyring
import Secrets

/// The records of a cache to import, and the others with the reasons for skipping them.
///
/// Records are judged by their fields, never by the keys that they were found under, and compared with stored records
/// of any host of the authority's environment. A stored record is only replaced by a newer one.
public struct ImportPlan: Sendable, Equatable {
    /// One record and the decision about it.
    public struct Entry: Sendable, Equatable {
        /// The record; if it is imported, as it will be stored.
        public var record: CredentialRecord
        /// The reason for skipping it; nil if it is imported.
        public var skipped: SkipReason?
    }

    /// Every record that was found.
    public private(set) var entries: [Entry] = []

    /// The records to store, account by account and each account before its tokens, so that an import that ends early
    /// leaves no token without an account.
    public var imported: [CredentialRecord] {
        let records = entries.filter { $0.skipped == nil }.map(\.record)
        // Sorting is stable.
        return records.sorted { $0.turn < $1.turn }
    }

    /// Makes the plan from the rules and the stored records.
    public init(_ found: [CredentialRecord], stored: [CredentialRecord], rules: ImportRules) {
        let filter = ImportFilter(rules: rules, stored: stored, families: rules.families(in: stored + found))
        // Newest first, so that the newest of several equal records counts.
        let sorted = found.sorted { ($0.moment ?? 0) > ($1.moment ?? 0) }
        var seen: Set<[String: String]> = []
        for record in sorted {
            if case .account = record { continue }
            entries.append(filter.entry(for: record, &seen))
        }
        var homes = filter.homesStored
        for entry in entries where entry.skipped == nil || entry.skipped == .stored || entry.skipped == .newerStored {
            if let home = entry.record.homeAccountID?.lowercased() { homes.insert(home) }
        }
        for case .account(let account) in sorted {
            let isWanted = rules.clientIDs == nil || homes.contains(account.homeAccountID.lowercased())
            entries.append(
                isWanted
                    ? filter.entry(for: .account(account), &seen) : Entry(record: .account(account), skipped: .noToken))
        }
    }
}

extension CredentialRecord {
    /// The record's place in an import: with its account, which comes first.
    fileprivate var turn: String {
        let isAccount = kind == .account
        return "\(homeAccountID?.lowercased() ?? "") \(isAccount ? 0 : kind == .refreshToken ? 1 : 2)"
    }

    /// What it would be stored under if its authority's host were this one: an authority's aliases keep the same credential.
    func itemKey(at host: String) -> [String: String] {
        var moved = self
        moved.environment = host
        return moved.itemKey
    }

    /// The time of the record, in seconds since 1970; nil if it has none.
    var moment: Int? {
        switch self {
        case .accessToken(let token): token.cachedAt
        case .refreshToken(let token): token.lastModificationTime
        case .idToken(let token): WebToken.claims(of: token.secret.reveal())?["iat"]?.wholeNumber
        case .exchanged(let result): result.cachedAt
        case .account, .appMetadata: nil
        }
    }

    /// Whether both have the same secret or, if there is none, the same facts.
    func says(theSameAs other: CredentialRecord) -> Bool {
        switch (self, other) {
        case (.accessToken(let one), .accessToken(let other)): one.secret == other.secret
        case (.refreshToken(let one), .refreshToken(let other)): one.secret == other.secret
        case (.idToken(let one), .idToken(let other)): one.secret == other.secret
        case (.appMetadata(let one), .appMetadata(let other)): other.familyID != nil || one.familyID == nil
        case (.account, .account): true
        default: false
        }
    }
}

/// Makes the decision about each record.
private struct ImportFilter {
    let rules: ImportRules
    let families: Set<String>
    let homesStored: Set<String>
    private let twins: [[String: String]: CredentialRecord]

    init(rules: ImportRules, stored: [CredentialRecord], families: Set<String>) {
        self.rules = rules
        self.families = families
        // An imported record replaces its twin under the twin's host, so a malformed record can't be a twin.
        twins = Dictionary(
            stored.filter(\.isOfRightShape).map {
                ($0.itemKey(at: rules.environment($0.environment)?.first ?? $0.environment), $0)
            }
        ) { one, other in (one.moment ?? 0) >= (other.moment ?? 0) ? one : other }
        homesStored = Set(stored.filter { $0.kind != .account }.compactMap { $0.homeAccountID?.lowercased() })
    }

    func entry(for record: CredentialRecord, _ seen: inout Set<[String: String]>) -> ImportPlan.Entry {
        var record = record
        if let reason = objection(to: record) { return .init(record: record, skipped: reason) }
        guard let host = rules.environment(record.environment)?.first else {
            return .init(record: record, skipped: .unknownHost)
        }
        let key = record.itemKey(at: host)
        guard seen.insert(key).inserted else { return .init(record: record, skipped: .newerFound) }
        record.environment = host
        guard let twin = twins[key] else { return .init(record: record) }
        if record.says(theSameAs: twin) { return .init(record: record, skipped: .stored) }
        let isNewer = record.moment.map { $0 > twin.moment ?? 0 } ?? (record.kind == .appMetadata)
        // Replace the stored record, under the host that it is stored under.
        record.environment = twin.environment
        return .init(record: record, skipped: isNewer ? nil : .newerStored)
    }

    private func objection(to record: CredentialRecord) -> SkipReason? {
        guard record.isOfRightShape else { return .malformed }
        switch record {
        case .accessToken(let token):
            if token.homeAccountID == nil { return .ownerless }
            if token.tokenType.lowercased() != "bearer" { return .boundToKey }
            if !token.lives(after: rules.now), (token.extendedExpiresOn ?? 0) <= rules.now { return .expired }
            return rules.allows(client: token.clientID) ? nil : .otherClient
        case .refreshToken(let token):
            if token.homeAccountID.isEmpty { return .ownerless }
            if rules.allows(client: token.clientID) { return nil }
            guard let family = token.familyID else { return .otherClient }
            return families.contains(family) ? nil : .otherFamily
        case .idToken, .appMetadata: return rules.allows(client: record.clientID ?? "") ? nil : .otherClient
        case .account: return nil
        case .exchanged: return .malformed
        }
    }
}

/// The rules for what may be imported.
public struct ImportRules: Sendable {
    /// The clients whose tokens may be imported, lower-cased; nil for any client.
    public var clientIDs: Set<String>?
    /// Returns the hosts of the environment that a host belongs to, first the one to store tokens under; nil for an
    /// unknown host.
    public var environment: @Sendable (String) -> [String]?
    /// The current time, in seconds since 1970.
    public var now: Int

    /// Creates rules.
    public init(
        clientIDs: Set<String>?, environment: @escaping @Sendable (String) -> [String]?, now: Int
    ) {
        self.clientIDs = clientIDs
        self.environment = environment
        self.now = now
    }

    /// Whether a client's own tokens may be imported.
    func allows(client: String) -> Bool {
        clientIDs?.contains(client.lowercased()) ?? true
    }

    /// Returns the families that the clients are known to belong to, according to the records.
    func families(in records: [CredentialRecord]) -> Set<String> {
        var families: Set<String> = []
        for case .appMetadata(let metadata) in records where allows(client: metadata.clientID) {
            if let family = metadata.familyID, !family.isEmpty { families.insert(family) }
        }
        return families
    }
}

extension CredentialRecord {
    /// Whether every part of an imported record is valid: plugins receive them as lines, and they become attributes in the keyring.
    var isOfRightShape: Bool {
        // No other program has what a token was exchanged for.
        guard kind != .exchanged, isPlain else { return false }
        return texts.tokens.allSatisfy { $0.utf8.count <= 32 << 10 }
            && texts.targets.allSatisfy { $0.utf8.count <= 16 << 10 }
            && (texts.names + texts.titles).allSatisfy { $0.utf8.count <= 512 }
    }
}
