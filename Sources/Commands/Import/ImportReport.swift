import Addresses
import CommandKit
import CredentialEngine
import JSON
import Keyring
import Model
import OtherCaches
import Secrets
import Terminal

/// What was imported and what was skipped, without secrets.
struct ImportReport {
    /// A line of the report.
    struct Row: Hashable {
        var result: String
        var what: String
        var whose: String
        var why: String
    }

    private var rows: [Row] = []
    private var objects: [JSONValue] = []
    private(set) var importedCount = 0
    private(set) var skippedCount = 0
    /// The reasons for skipping.
    private(set) var reasons: Set<SkipReason> = []
    private let now: Int

    init(now: Int) {
        self.now = now
    }

    mutating func add(_ plan: ImportPlan) {
        for (entry, facts) in zip(plan.entries, RecordFacts.all(plan.entries.map(\.record))) {
            let whose = facts.whose ?? facts.clientID
            add(facts.what, whose, entry.skipped, facts.json(now: now))
        }
    }

    mutating func add(_ reject: OtherCache.Reject) {
        add(reject.what, reject.whose, reject.reason, ["username": .string(reject.whose)])
    }

    mutating func add(_ entry: PasswordPlan.Entry) {
        add("password", entry.password.address, entry.skipped, entry.password.json)
    }

    /// Adds a password that lanyard already finds in its place.
    mutating func add(shared password: OtherPassword) {
        rows.append(Row(result: "usable", what: "password", whose: password.address, why: "lanyard uses it already"))
        objects.append(password.json.merging(["result": "usable"]))
    }

    private mutating func add(_ what: String, _ whose: String, _ skipped: SkipReason?, _ facts: JSONValue) {
        if let skipped { reasons.insert(skipped) }
        importedCount += skipped == nil ? 1 : 0
        skippedCount += skipped == nil ? 0 : 1
        let result = skipped == nil ? "taken" : "skipped"
        rows.append(Row(result: result, what: what, whose: whose, why: skipped?.text ?? ""))
        var members: [String: JSONValue] = ["result": .string(result)]
        members["reason"] = skipped.map { .string($0.rawValue) }
        objects.append(facts.merging(.object(members)))
    }

    /// Whether nothing was found.
    var isEmpty: Bool { rows.isEmpty }

    /// The report as JSON.
    var json: JSONValue { .array(objects) }

    /// Returns the report for users, laid out for a number of columns; equal lines are merged and counted.
    func lines(columns: Int?) -> [String] {
        guard !rows.isEmpty else { return [] }
        let counts = Dictionary(rows.map { ($0, 1) }, uniquingKeysWith: +)
        let cells = counts.sorted { one, other in
            (one.key.result == "skipped" ? 1 : 0, one.key.whose, one.key.what, one.key.why)
                < (other.key.result == "skipped" ? 1 : 0, other.key.whose, other.key.what, other.key.why)
        }.map { row, count in
            [row.result, count == 1 ? row.what : "\(count) \(row.what)s", row.whose, row.why]
        }
        return Table(cells).wrapped(columns: columns, indent: 0)
    }
}

extension OtherPassword {
    /// The user name and URL, fit to show.
    var address: String {
        let path = request.path.map { "/\($0)" } ?? ""
        let place = "\(request.scheme ?? "")://\(request.host?.text ?? "")\(path)".displayable(limit: 200)
        return request.username.map { "\($0.displayable(limit: 100)) at \(place)" } ?? place
    }

    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [
            "kind": "password", "protocol": .string(request.scheme ?? ""), "host": .string(request.host?.text ?? ""),
        ]
        members["path"] = request.path.map(JSONValue.string)
        members["username"] = request.username.map(JSONValue.string)
        return .object(members)
    }
}

extension SkipReason {
    /// The reason, for users.
    var text: String {
        switch self {
        case .otherClient: "another app's"
        case .otherFamily: "its family isn't known to include your app"
        case .unknownHost: "its host is unknown"
        case .expired: "expired"
        case .boundToKey: "bound to a key that isn't on this machine"
        case .ownerless: "an application's, not a user's"
        case .guest: "a guest account's; sign in instead"
        case .oneResource: "for one resource only"
        case .stored: "stored already"
        case .newerStored: "the stored one is as new or newer"
        case .newerFound: "there is a newer one"
        case .noToken: "none of its tokens is imported"
        case .tokenAnswers: "a token is used there"
        case .programsOwn: "only its own program can use it; `lanyard configure git` can let git ask that"
        case .malformed: "malformed"
        case .unknownKind: "of an unknown kind"
        }
    }
}

/// The decision about which of another program's passwords to import.
struct PasswordPlan {
    /// A password, and the reason why it is skipped; nil if it is imported.
    typealias Entry = (password: OtherPassword, skipped: SkipReason?)

    let entries: [Entry]

    /// Decides about each password; one that is already stored stays unchanged.
    init(_ passwords: [OtherPassword], besides records: StoredRecords, in session: Session) throws(CommandError) {
        entries = try passwords.map { password throws(CommandError) in
            let isToken = records.hasToken(password.stored.fingerprints)
            return (password, isToken ? .tokenAnswers : try Self.objection(to: password, in: session))
        }
    }

    private static func objection(to password: OtherPassword, in session: Session) throws(CommandError) -> SkipReason? {
        guard let query = PasswordQuery(password.request) else { return .malformed }
        // If a token answers, the password would never be used.
        if (try? session.resolve(password.request)) != nil { return .tokenAnswers }
        let stored = try session.keeping { () throws(KeyringError) in
            try session.passwords.get(query, now: session.context.now)
        }
        guard let stored else { return nil }
        return stored.proof == password.stored.proof ? .stored : .newerStored
    }

    func store(in session: Session) throws(CommandError) {
        for entry in entries where entry.skipped == nil {
            let password = entry.password
            guard let query = PasswordQuery(password.request) else { continue }
            try session.keeping { () throws(KeyringError) in
                _ = try session.passwords.store(password.stored, for: query)
            }
        }
    }
}
