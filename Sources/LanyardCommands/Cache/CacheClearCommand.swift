import Addresses
import ArgumentParser
import PluginHost
import Rules
import Secrets
import Terminal
import TokenAcquisition
import TokenStore

struct CacheClearCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "clear", abstract: "Remove stored tokens and accounts.",
        usage: "lanyard cache clear [<options>]",
        discussion: """
            Removes those of every client in the group, or only what the options select. Passwords that git stored stay. \
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

    @Option(help: ArgumentHelp("Only this client's, by id or name.", valueName: "id"))
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
        filter.place = try authority.map { url throws(Failure) in try session.place(of: url) }
        if let account, filter.homes(in: stored.all)?.isEmpty == true {
            throw Failure(nothingStoredOf: account)
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
        do throws(StoreError) {
            let first = try await session.acquirer.deleteRefreshTokens(among: doomed)
            console.endProgress()
            let others =
                filter.isEverything ? try session.store.delete(matching: .all) : try session.store.delete(doomed)
            removed = first + others
        } catch {
            throw Failure(error)
        }
        console.note("removed \(removed) \(removed == 1 ? "record" : "records")")
    }

    private func clearDamaged(_ session: Session) async throws {
        let console = session.context.console
        guard try await session.storedRecords().hasDamaged else { return console.note("nothing is damaged") }
        guard try await confirmed("remove the damaged items?", session) else {
            return console.note("nothing was removed")
        }
        let removed = try session.keeping { () throws(StoreError) in try session.store.deleteDamaged() }
        console.note("removed \(removed) \(removed == 1 ? "item" : "items")")
    }

    private func confirmed(_ question: String, _ session: Session) async throws(Failure) -> Bool {
        if yes { return true }
        guard session.presence.hasTerminal, ControllingTerminal.isThere else {
            throw Failure("refusing to \(question.dropLast()) without --yes", status: .usage)
        }
        return await Prompt(session.context.console).decision(question, suggesting: false) ?? false
    }
}
