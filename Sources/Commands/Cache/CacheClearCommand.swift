import Addresses
import AnswerCache
import ArgumentParser
import CommandKit
import Keyring
import Model
import PluginHost
import Secrets
import Terminal
import TokenAcquisition

struct CacheClearCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "clear", abstract: "Remove stored tokens and accounts.",
        usage: "lanyard cache clear [<options>]",
        discussion: """
            Removes those of every app in the group, or only what the options select. Passwords that git stored stay. \
            The authority isn't notified, so its sessions and consents stay too.
            """)

    static let examples: KeyValuePairs = [
        "Remove expired access tokens": "lanyard cache clear --expired",
        "Remove an account's tokens, without asking": "lanyard cache clear --yes --account alice@contoso.com",
    ]

    @Flag(help: "Only expired access tokens.")
    var expired = false

    @Flag(help: "Only items without a record, or with characters that no token has.")
    var damaged = false

    @Option(help: ArgumentHelp("Only this account's: a user name or an identifier.", valueName: "account"))
    var account: String?

    @Option(help: ArgumentHelp("Only this authority's; for a single tenant, only its tokens.", valueName: "url"))
    var authority: String?

    @Option(help: ArgumentHelp("Only this app's, by client ID or name.", valueName: "id"))
    var clientId: String?

    @Flag(name: .shortAndLong, help: "Don't ask.")
    var yes = false

    mutating func validate() throws {
        for (name, value) in [("account", account), ("authority", authority), ("client-id", clientId)]
        where value?.isEmpty == true {
            throw ValidationError("--\(name) is empty; leave it out to remove more than its records")
        }
        guard damaged, expired || account != nil || authority != nil || clientId != nil else { return }
        throw ValidationError("--damaged can be combined only with --yes")
    }

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context)
        if damaged { return try await clearDamaged(session) }
        let console = session.context.console
        // Forget the answers first, so that lanyard gives none even if the keyring doesn't respond.
        session.context.answers.forget()
        let stored = try await session.storedRecords()
        var filter = ClearFilter(
            expired: expired, account: account, clientIDs: clientId.map(session.registry.clientIDs))
        filter.place = try authority.map { url throws(CommandError) in try session.key(of: url) }
        if let account, filter.homes(in: stored.all)?.isEmpty == true {
            throw CommandError(nothingStoredOf: account)
        }
        let doomed = filter.matches(among: stored.all, now: session.context.now)
        let count = doomed.count + (filter.isEverything ? stored.unreadable.count : 0)
        guard count > 0 else {
            console.note("there is nothing to remove")
            return
        }
        let what = "\(count) stored \(count == 1 ? "record" : "records")"
        guard try await confirmed("remove \(what)?", session) else {
            console.note("nothing was removed")
            return
        }
        let removed: Int
        do throws(KeyringError) {
            let first = try await session.acquirer.deleteRefreshTokens(among: doomed)
            console.endProgress()
            let others =
                filter.isEverything ? try session.store.delete(matching: .all) : try session.store.delete(doomed)
            removed = first + others
        } catch {
            throw CommandError(error)
        }
        console.note("removed \(removed) \(removed == 1 ? "record" : "records")")
    }

    private func clearDamaged(_ session: Session) async throws {
        let console = session.context.console
        guard try await session.storedRecords().hasDamaged else { return console.note("nothing is damaged") }
        guard try await confirmed("remove the damaged items?", session) else {
            return console.note("nothing was removed")
        }
        let removed = try session.keeping { () throws(KeyringError) in try session.store.deleteDamaged() }
        console.note("removed \(removed) \(removed == 1 ? "item" : "items")")
    }

    private func confirmed(_ question: Message, _ session: Session) async throws(CommandError) -> Bool {
        if yes { return true }
        return try await Prompt(session.context.console).confirmed(
            question, to: "\(question.text.dropLast())",
            isSomebodyThere: session.presence.hasTerminal && ControllingTerminal.isThere)
    }
}

/// Selects the stored records that `cache clear` removes.
struct ClearFilter {
    /// Whether to remove only access tokens that are no longer usable.
    var expired = false
    /// The account whose records to remove, by user name or home account ID; nil for all.
    var account: String?
    /// The clients whose records to remove, by key; nil for all.
    var clientIDs: Set<String>?
    /// The authority whose records to remove; nil for all.
    var place: AuthorityKey?

    /// Whether the filter selects everything.
    var isEverything: Bool { !expired && account == nil && clientIDs == nil && place == nil }

    /// Returns the records to remove; `now` is in seconds since 1970.
    ///
    /// An account is removed with its last token, and a client's metadata only with the client's tokens.
    func matches(among records: [CredentialRecord], now: Int) -> [CredentialRecord] {
        guard !isEverything else { return records }
        let facts = RecordFacts.all(records)
        let named = homes(in: records)
        let policies = policies(in: records)
        let chosen = zip(records, facts).filter { record, facts in
            guard facts.kind != .account else { return false }
            if expired, facts.usableUntil.map({ $0 > now }) ?? true { return false }
            if let named, !named.contains(facts.home) { return false }
            if let clientIDs, !clientIDs.contains(facts.clientID.clientKey) { return false }
            if let place, !covers(place, record, facts, policies) { return false }
            return true
        }
        let left = zip(records, facts).filter { record, facts in
            facts.kind != .account && facts.kind != .appMetadata && !chosen.contains { $0.0 == record }
        }
        let homesLeft = Set(left.map { $0.1.home })
        let touched = Set(chosen.map { $0.1.home }).union(named ?? [])
        let orphans = zip(records, facts).filter { _, facts in
            facts.kind == .account && !expired && touched.contains(facts.home) && !homesLeft.contains(facts.home)
        }
        return (chosen + orphans).map(\.0)
    }

    /// Returns the home account IDs that match the account's name; nil if the filter names none.
    func homes(in records: [CredentialRecord]) -> Set<String>? {
        guard let wanted = account?.lowercased() else { return nil }
        return Set(
            RecordFacts.all(records).filter { [$0.username.lowercased(), $0.home].contains(wanted) }.map(\.home))
    }

    /// Returns the policies of accounts, by home account ID.
    private func policies(in records: [CredentialRecord]) -> [String: String] {
        var policies: [String: String] = [:]
        for case .account(let account) in records { policies[account.homeAccountID.lowercased()] = account.policy }
        return policies
    }

    /// Whether a record belongs to an authority: tokens by its realm, if it names one, and records without a realm by
    /// its host.
    private func covers(
        _ place: AuthorityKey, _ record: CredentialRecord, _ facts: RecordFacts, _ policies: [String: String]
    ) -> Bool {
        guard place.aliases.contains(facts.environment.lowercased()) else { return false }
        if let policy = place.policy { return policies[facts.home] == policy }
        guard place.sharedRealm == nil else { return true }
        switch record {
        case .accessToken(let token):
            return token.realm.lowercased() == place.realm || token.wasRequested(in: place.realm)
        case .exchanged(let result):
            return result.realm.lowercased() == place.realm || result.wasRequested(in: place.realm)
        case .idToken(let token): return token.realm.lowercased() == place.realm
        case .refreshToken, .account, .appMetadata: return false
        }
    }
}

extension CommandError {
    /// An account that there is no record of.
    init(nothingStoredOf account: String) {
        self.init(
            "nothing is stored for \(account)", hints: [Hint("see", run: "lanyard cache list")])
    }
}
