import Addresses
import ArgumentParser
import Rules
import Secrets
import Terminal

struct UnconfigureCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unconfigure",
        abstract: "Take back what `lanyard configure` wrote.", subcommands: [UnconfigureGitCommand.self])
}

struct UnconfigureGitCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "git", abstract: "Take back what `lanyard configure git` wrote.",
        discussion: "That, and nothing else: what you wrote yourself stays, and so do rules, tokens and passwords.")

    @Argument(help: "The URL whose host is meant; everything that was written unless given.")
    var url: String?

    @OptionGroup var scope: GitScopeOptions

    mutating func run(in context: CommandContext) async throws {
        try await Git.requireUsable()
        let place = try url.map { url throws(Failure) in try Self.place(url) }
        let written = try await Self.written(scope.scope, place)
        guard try await take(back: written, context) else { return }
        try await tellWhatIsLeft(context)
        tellRules(place, context)
    }

    private typealias WrittenChange = (change: GitChange, note: GitConfiguration.Entry, stands: Bool)

    /// What was written, as the notes beside it say, and whether it still stands.
    private static func written(_ scope: GitConfiguration.Scope, _ place: String?) async throws(Failure)
        -> [WrittenChange]
    {
        let entries = try await GitConfiguration(scope: scope).entries()
        return entries.compactMap { note in
            guard let change = GitChange(note), place == nil || change.place == place else { return nil }
            let stands = entries.contains {
                $0.file == note.file && $0.place(of: change.variable.lowercased()) == change.place
                    && $0.value == change.value
            }
            return (change, note, stands)
        }
    }

    /// False if the person said no.
    private func take(back written: [WrittenChange], _ context: CommandContext) async throws(Failure) -> Bool {
        let console = context.console
        guard !written.isEmpty else {
            console.note("there is nothing that lanyard configure git wrote")
            return true
        }
        if scope.system, !scope.dryRun { try await requireWritable(written, context) }
        try scope.requireAnswer(context)
        for file in Set(written.map(\.note.file)).sorted() {
            console.note("this \(scope.dryRun ? "would be" : "is") taken out of \(context.short(file)):")
            let standing = written.filter { $0.stands && $0.note.file == file }.map(\.change)
            for line in GitChange.text(standing, withNotes: true) { console.note("  \(line.displayable())") }
        }
        guard await scope.mayGoOn(context) else { return false }
        for (change, note, _) in written {
            try await GitConfiguration.remove(change.key, change.value, from: note.file)
            try await GitConfiguration.remove(change.noteKey, change.noteValue, from: note.file)
        }
        return true
    }

    private func requireWritable(_ written: [WrittenChange], _ context: CommandContext) async throws(Failure) {
        for file in Set(written.map(\.note.file)) {
            try await GitConfiguration.requireWritable(file: file, hint: context.asRoot)
        }
    }

    private func tellWhatIsLeft(_ context: CommandContext) async throws(Failure) {
        for entry in try await scope.scope.whatCounts() {
            guard entry.place(of: "helper") != nil, GitHelpers.Helper(value: entry.value, file: entry.file).isLanyard
            else { continue }
            let key = entry.key.displayable(limit: 200)
            context.console.note(
                Hint(
                    "\(key) still names lanyard, which lanyard configure git did not write there; to take it out",
                    run: "git config --file \(entry.file) --unset-all \(entry.key) lanyard"))
        }
    }

    /// Tells of the rules that are still there, which lanyard itself goes by, and how to be rid of them.
    private func tellRules(_ place: String?, _ context: CommandContext) {
        // If the configuration is wrong, other commands say so.
        guard let session = try? Session(context, of: scope.system ? .system : .user) else { return }
        let rules = session.configuration.rules.filter { rule in
            let host = "\(rule.pattern.scheme)://\(rule.pattern.host.urlText)"
            return rule.file == session.rulesFile && (place == nil || place == host)
        }
        guard let first = rules.first else { return }
        let file = context.short(session.rulesFile)
        let shown = first.pattern.text.displayable(limit: 200)
        let stays =
            rules.count == 1
            ? "the rule for \(shown) stays in \(file); to remove it"
            : "\(rules.count) rules stay in \(file); to remove one, such as the first"
        context.console.note(Hint(stays, run: session.removal(of: first)))
    }

    private static func place(_ url: String) throws(Failure) -> String {
        let pattern = try URLPattern(typed: url)
        return "\(pattern.scheme)://\(pattern.host.urlText)"
    }
}
