import ArgumentParser
import JSON
import Secrets
import Terminal
import TokenStore

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
            for line in RecordListing(facts: facts, now: now).lines { console.print(line) }
        }
        for reason in stored.unreadable { console.note("not shown: \(reason.displayable(limit: 200))") }
        if stored.hasDamaged { console.note(Hint("to remove damaged items", run: "lanyard cache clear --damaged")) }
    }
}
