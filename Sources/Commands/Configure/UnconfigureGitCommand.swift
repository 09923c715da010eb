import Addresses
import ArgumentParser
import CommandKit
import Model
import Rules
import Secrets
import SettingsFile
import Terminal

struct UnconfigureCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "unconfigure",
        abstract: "Undo `lanyard configure`.",
        usage: "lanyard unconfigure <tool> [<options>]\nlanyard unconfigure --all [<options>]",
        subcommands: [UnconfigureGitCommand.self] + TableIndices.ofSetups.map { $0.unconfigure })

    static let examples: KeyValuePairs = [
        "Make git stop using lanyard": "lanyard unconfigure git",
        "Make every tool stop using lanyard, before you uninstall it": "lanyard unconfigure --all",
    ]

    @Flag(help: "Undo it for every tool that uses lanyard, and for git.")
    var all = false

    @OptionGroup var options: ChangeOptions

    mutating func run(in context: CommandContext) async throws {
        guard all else { throw CleanExit.helpRequest(self) }
        let flags = (options.yes ? ["--yes"] : []) + (options.dryRun ? ["--dry-run"] : [])
        let tools = ToolList(context)
        if let fault = tools.fault { throw fault }
        var commands = TableIndices.ofSetups.filter { tools.isUsed(by: $0.setup) }.map { $0.unconfigure }
        let isRecorded = try !GitRecord(.global, context).entries().isEmpty
        if isRecorded || context.program("git") != nil { commands.append(UnconfigureGitCommand.self) }
        var failed: CommandError?
        var isUnanswered = false
        for command in commands {
            do {
                if var command = try command.parseAsRoot(flags) as? any Command {
                    try await command.run(in: context)
                }
            } catch let failure as CommandError where failure.status == .usage {
                isUnanswered = true
            } catch let failure as CommandError {
                context.console.report(failure)
                failed = failure
            }
        }
        if (try? GitRecord(.system, context).entries())?.isEmpty == false {
            context.console.note(
                Hint("git uses lanyard for all users, too; to undo that", run: "sudo lanyard unconfigure git --system"))
        }
        guard !isUnanswered else {
            throw CommandError(
                "there is no terminal to ask you whether to change the tools' settings",
                hints: [
                    Hint("to change them without being asked", run: "lanyard unconfigure --all --yes"),
                    Hint("only to look", run: "lanyard unconfigure --all --dry-run"),
                ], status: .usage)
        }
        if let failed { throw ExitCode(failed.status.rawValue) }
    }
}

struct UnconfigureGitCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "git", abstract: "Undo `lanyard configure git`.",
        discussion: "Removes only what lanyard wrote: your own settings stay, and so do rules, tokens and passwords.")

    static let examples: KeyValuePairs = [
        "Make git stop using lanyard for one host": "lanyard unconfigure git \(Example.url)",
        "Show what would be removed everywhere": "lanyard unconfigure git --dry-run",
    ]

    @Argument(help: "A URL of the host to undo it for; every host if left out.")
    var url: String?

    @OptionGroup var scope: GitScopeOptions
    @OptionGroup var options: ChangeOptions

    mutating func run(in context: CommandContext) async throws {
        try await Git(context: context).requireUsable()
        let place = try url.map { url throws(CommandError) in try Self.place(url) }
        let record = try GitRecord(scope.scope, context)
        if !options.dryRun { try await record.complete() }
        // The changes for the place, or for all, that are still there.
        let written = try await record.standing(record.entries()).filter { place == nil || $0.change.place == place }
        guard try await undo(written, record, context) else { return }
        try await tellWhatIsLeft(place, record, context)
        context.tellRules(for: place.map { [$0] }, of: scope.system ? .system : .user)
        if place == nil { try tellIdentity(context) }
    }

    /// Returns false if the user said no.
    private func undo(
        _ written: [GitRecord.Entry], _ record: GitRecord, _ context: CommandContext
    ) async throws(CommandError) -> Bool {
        let console = context.console
        guard !written.isEmpty else {
            console.note("there is nothing that lanyard configure git wrote")
            return true
        }
        let files = Set(written.compactMap(\.file)).sorted()
        if !options.dryRun { try await requireWritable(files, record, context) }
        try options.requireAnswer(toChange: "git's configuration", context)
        for file in files {
            console.note("this \(options.dryRun ? "would be" : "is") removed from \(context.short(file)):")
            let changes = written.filter { $0.file == file }.map(\.change)
            for line in GitChange.text(changes) { console.note("  \(line)") }
        }
        guard await options.confirm(context) else { return false }
        let locked = try record.file.locked()
        let standing = try await record.standing(record.entries())
        // The changes that were shown, except those that somebody else has undone meanwhile.
        let removed = written.filter(standing.contains)
        try await record.remove(removed)
        try locked.write(standing.filter { !removed.contains($0) })
        try removeEmpty(Set(removed.filter(\.isNew).compactMap(\.file)))
        return true
    }

    /// Removes files that were created for the changes and are empty now.
    private func removeEmpty(_ files: Set<String>) throws(CommandError) {
        do throws(SettingsError) {
            for file in files {
                let text = try SettingsText(reading: file)
                if text.text?.isEmpty == true { try text.remove() }
            }
        } catch {
            throw CommandError(error)
        }
    }

    private func requireWritable(
        _ files: [String], _ record: GitRecord, _ context: CommandContext
    ) async throws(CommandError) {
        if scope.system {
            for file in files { try await GitConfiguration(context).requireWritable(file: file, hint: context.asRoot) }
        }
        try record.file.requireWritable()
    }

    /// Reports that an identity still gets the tokens, which may come from `configure git --identity`.
    private func tellIdentity(_ context: CommandContext) throws(CommandError) {
        let setting = (try? Configuration.settings(in: context))?.first { $0.key == "default-identity" }
        guard let setting, case .file(let file, _) = setting.origin,
            file == (try? Session(context, of: scope.system ? .system : .user))?.tables.file
        else { return }
        context.console.note(
            Hint(
                "default-identity stays in \(context.short(file)); to have people sign in again",
                run: "lanyard config unset\(flag: "--system", if: scope.system) default-identity"))
    }

    /// Reports what git still has of lanyard for a place, or for all, that no record contains.
    private func tellWhatIsLeft(
        _ place: String?, _ record: GitRecord, _ context: CommandContext
    ) async throws(CommandError) {
        var recorded = try record.entries()
        // The user's git also reads what was written for all users.
        if !scope.system { recorded += (try? GitRecord(.system, context).entries()) ?? [] }
        for entry in try await GitConfiguration(context).whatCounts(for: scope.scope) {
            guard let own = entry.place(of: "helper"), place == nil || place == (try? Self.place(own)),
                GitHelpers.Helper(value: entry.value, file: entry.file).isLanyard,
                !recorded.contains(where: { $0.isOf(entry) })
            else { continue }
            context.console.note(
                Hint(
                    "\(entry.key) still names lanyard, which lanyard configure git did not write there; to remove it",
                    run: "git config --file \(entry.file) --unset-all \(entry.key) lanyard"))
        }
    }

    private static func place(_ url: String) throws(CommandError) -> String { try URLPattern(typed: url).place }
}

extension CommandContext {
    /// Lists the remaining rules for some places, or for all, which still apply to lanyard itself, and how to remove
    /// them.
    func tellRules(for places: Set<String>?, of scope: Session.Scope) {
        // If the configuration has errors, other commands report them.
        guard let session = try? Session(self, of: scope) else { return }
        let rules = session.configuration.rules.filter { rule in
            rule.file == session.tables.file && places?.contains(rule.pattern.place) != false
        }
        guard let first = rules.first else { return }
        let file = short(session.tables.file)
        let shown = first.pattern.text.displayable(limit: 200)
        let stays: Message =
            rules.count == 1
            ? "the rule for \(shown) stays in \(file); to remove it"
            : "\(rules.count) rules stay in \(file); to remove one, such as the first"
        console.note(Hint(stays, run: session.tables.removal(of: first)))
    }
}
