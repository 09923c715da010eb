import ArgumentParser
import CredentialProtocol
import Rules

/// `lanyard unconfigure`.
struct Unconfigure: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Take back what `lanyard configure` wrote.", subcommands: [UnconfigureGit.self])
}

/// `lanyard unconfigure git`.
struct UnconfigureGit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "git", abstract: "Take back what `lanyard configure git` wrote.",
        discussion: "That, and nothing else: what you wrote yourself stays, and so do rules, tokens and passwords.")

    @Argument(help: "The URL whose host is meant; everything that was written unless given.")
    var url: String?

    @OptionGroup var scope: GitScopeOptions

    mutating func run() async throws {
        try await Git.requireUsable()
        let context = CommandContext.current
        let place = try url.map { url throws(Failure) in try Self.place(url) }
        let written = try await Self.written(scope.scope, place)
        if try await take(back: written, context) { try await tellWhatIsLeft(context) }
    }

    private typealias Written = (change: GitChange, note: GitConfiguration.Entry, stands: Bool)

    /// What was written, as the notes beside it say, and whether it still stands.
    private static func written(_ scope: GitConfiguration.Scope, _ place: String?) async throws(Failure) -> [Written] {
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

    /// False where the person said no.
    private func take(back written: [Written], _ context: CommandContext) async throws(Failure) -> Bool {
        let console = context.console
        guard !written.isEmpty else {
            console.note("there is nothing that lanyard configure git wrote")
            return true
        }
        for file in Set(written.map(\.note.file)).sorted() {
            console.note("this \(scope.dryRun ? "would be" : "is") taken out of \(context.short(file)):")
            let standing = written.filter { $0.stands && $0.note.file == file }.map(\.change)
            for line in GitChange.text(standing, withNotes: true) { console.note("  \(line.displayable())") }
        }
        guard !scope.dryRun else { return false }
        if !scope.yes, let asking = Asking(context), await !asking.confirms("go on?") {
            console.note("nothing was changed")
            return false
        }
        for (change, note, _) in written {
            try await GitConfiguration.remove(change.key, change.value, from: note.file)
            try await GitConfiguration.remove(change.noteKey, change.noteValue, from: note.file)
        }
        return true
    }

    private func tellWhatIsLeft(_ context: CommandContext) async throws(Failure) {
        for entry in try await GitConfiguration.everything() {
            guard entry.place(of: "helper") != nil, GitHelpers.Helper(value: entry.value, file: entry.file).isLanyard
            else { continue }
            let key = entry.key.displayable(limit: 200)
            context.console.note("\(key) still names lanyard, which lanyard configure git did not write there;")
            context.console.note(
                "  to take it out: git config --file \(context.short(entry.file)) --unset-all \(key) lanyard")
        }
    }

    private static func place(_ url: String) throws(Failure) -> String {
        guard let pattern = URLPattern(url.withScheme) else {
            throw Failure("\(url.displayable(limit: 200)) is not a URL", status: .usage)
        }
        return "\(pattern.scheme)://\(pattern.host.text)"
    }
}
