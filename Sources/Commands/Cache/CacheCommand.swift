import Addresses
import ArgumentParser
import CommandKit
import JSON
import Keyring
import PluginWire
import Secrets
import Terminal

struct CacheCommand: AsyncParsableCommand, WithExamples {
    static let configuration = CommandConfiguration(
        commandName: "cache", abstract: "List and remove stored tokens and accounts.",
        discussion:
            "Passwords that git stored are neither listed nor removed; `git credential reject` removes them.",
        subcommands: [CacheListCommand.self, CacheClearCommand.self])

    static let examples: KeyValuePairs = ["See what is stored": "lanyard cache list"]
}

struct CacheListCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List stored tokens and accounts, without secrets.")

    static let examples: KeyValuePairs = ["See what is stored": "lanyard cache list"]

    @Flag(help: "Print JSON.")
    var json = false

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context)
        let stored = try await session.storedRecords()
        let console = session.context.console
        let facts = RecordFacts.all(stored.all)
        let now = session.context.now
        if json {
            console.print(json: .array(facts.map { $0.json(now: now) }))
        } else if facts.isEmpty {
            console.note("nothing is stored")
        } else {
            for line in Self.lines(of: facts, now: now) { console.print(line) }
        }
        for reason in stored.unreadable { console.note("not shown: \(reason)") }
        if stored.hasDamaged { console.note(Hint("to remove damaged items", run: "lanyard cache clear --damaged")) }
    }

    /// Returns records for users, grouped by account, within 80 columns if words allow.
    private static func lines(of facts: [RecordFacts], now: Int) -> [String] {
        let owners = Dictionary(grouping: facts, by: owner)
        let sections = owners.sorted { $0.key < $1.key }.map { owner, facts in
            [owner] + facts.sorted(by: isBefore).flatMap { lines(of: $0, now: now) }
        }
        return Array(sections.joined(separator: [""]))
    }

    private static func owner(_ facts: RecordFacts) -> String {
        let place = facts.environment.displayable(limit: 100)
        return facts.whose.map { "\($0) at \(place)" } ?? "(apps) at \(place)"
    }

    private static func isBefore(_ one: RecordFacts, _ other: RecordFacts) -> Bool {
        let order = ["account": 0, "refresh token": 1, "access token": 2, "exchanged": 3, "ID token": 4]
        return (order[one.what] ?? 5, one.clientID, one.tenant, one.scopes.joined())
            < (order[other.what] ?? 5, other.clientID, other.tenant, other.scopes.joined())
    }

    private static func lines(of facts: RecordFacts, now: Int) -> [String] {
        var details: [String] = []
        if let state = state(of: facts, now: now) { details.append(state) }
        if !facts.clientID.isEmpty { details.append("app \(facts.clientID)") }
        if let family = facts.family {
            details.append(family.isEmpty ? "of no family" : "family \(family)")
        }
        if !["", PluginProtocol.realmOfHost].contains(facts.tenant) {
            details.append("tenant \(facts.tenant.percentDecoded ?? facts.tenant)")
        }
        details += [facts.audience, facts.resources].compactMap(\.self).map { "for \($0.displayable(limit: 500))" }
        if !facts.scopes.isEmpty {
            details.append(facts.scopes.joined(separator: " "))
        }
        let rows = [[facts.what, details.first ?? ""]] + details.dropFirst().map { ["", $0] }
        return Table(rows, atLeast: [13]).wrapped(columns: 80, indent: 2).map { "  " + $0 }
    }

    private static func state(of facts: RecordFacts, now: Int) -> String? {
        if let expiresOn = facts.expiresOn {
            guard expiresOn <= now else { return "expires in \((expiresOn - now).timeInWords)" }
            let ended = "expired \((now - expiresOn).timeInWords) ago"
            return (facts.usableUntil ?? 0) > now ? ended + ", but usable while the authority is down" : ended
        }
        if facts.isEndless { return "valid until it is revoked" }
        return facts.storedOn.map { "stored \(max(0, now - $0).timeInWords) ago" }
    }
}

/// The public facts of a stored record: everything but its secret.
struct RecordFacts {
    let kind: CredentialKind
    let environment: String
    let homeAccountID: String
    var username = ""
    let clientID: String
    var tenant = ""
    var scopes: [String] = []
    var family: String?
    var tokenType: String?
    var storedOn: Int?
    var expiresOn: Int?
    var usableUntil: Int?
    /// The host that accepts an exchanged token.
    var audience: String?
    /// The resources that the token was asked for, such as a repository.
    var resources: String?
    /// Whether it is a token without a known expiry.
    var isEndless = false

    /// Creates the facts of a record; `usernames` are by lower-case home account ID.
    init(_ record: CredentialRecord, usernames: [String: String]) {
        kind = record.kind
        environment = record.environment
        homeAccountID = record.homeAccountID ?? ""
        clientID = record.clientID ?? ""
        switch record {
        case .accessToken(let token):
            (tenant, scopes, tokenType) = (token.realm, token.scopes, token.tokenType)
            (storedOn, expiresOn) = (token.cachedAt, token.expiresOn)
            usableUntil = max(token.expiresOn ?? 0, token.extendedExpiresOn ?? 0)
            isEndless = token.expiresOn == nil
            resources = token.resourceIndicators
        case .refreshToken(let token): (family, storedOn) = (token.familyID, token.lastModificationTime)
        case .idToken(let token): tenant = token.realm
        case .account(let account): (username, tenant) = (account.username, account.realm)
        case .appMetadata(let metadata): family = metadata.familyID
        case .exchanged(let result):
            (tenant, scopes, audience) = (result.realm, result.scopes, result.audience)
            (storedOn, expiresOn, usableUntil) = (result.cachedAt, result.expiresOn, result.expiresOn)
            isEndless = result.expiresOn == nil
        }
        if username.isEmpty { username = usernames[home] ?? "" }
    }

    /// Returns the facts of records, with the user names of their accounts.
    static func all(_ records: [CredentialRecord]) -> [RecordFacts] {
        var usernames: [String: String] = [:]
        for case .account(let account) in records where !account.username.isEmpty {
            usernames[account.homeAccountID.lowercased()] = account.username
        }
        return records.map { RecordFacts($0, usernames: usernames) }
    }

    /// The home account ID in lower case, by which records belong together.
    var home: String { homeAccountID.lowercased() }

    /// The owner of the record, fit to show; nil for a client's metadata.
    ///
    /// Without an account, it belongs to an application.
    var whose: String? {
        guard kind != .appMetadata else { return nil }
        let owner = username.isEmpty ? homeAccountID : username
        return owner.isEmpty ? "(applications)" : owner.displayable(limit: 200)
    }

    /// The type of the record, for users.
    var what: String {
        switch kind {
        case .accessToken, .accessTokenWithScheme: "access token"
        case .refreshToken: "refresh token"
        case .idToken: "ID token"
        case .account: "account"
        case .appMetadata: "app"
        case .exchanged: "exchanged"
        }
    }

    /// Returns the facts as JSON, without those that don't apply.
    func json(now: Int) -> JSONValue {
        var members: [String: JSONValue] = [
            "kind": .string(kind.rawValue), "environment": .string(environment),
        ]
        let texts = [
            "homeAccountId": homeAccountID, "username": username, "clientId": clientID, "tenant": tenant,
            "family": family ?? "", "tokenType": tokenType ?? "", "audience": audience ?? "",
            "resources": resources ?? "",
        ]
        for (name, text) in texts where !text.isEmpty { members[name] = .string(text) }
        if tokenType != nil || audience != nil { members["scopes"] = JSONValue(strings: scopes) }
        if let storedOn { members["storedOn"] = .integer(Int64(storedOn)) }
        if let expiresOn {
            members["expiresOn"] = .integer(Int64(expiresOn))
            members["expired"] = .bool(expiresOn <= now)
        }
        return .object(members)
    }
}
