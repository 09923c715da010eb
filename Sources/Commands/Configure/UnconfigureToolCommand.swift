import Addresses
import ArgumentParser
import CommandKit
import Rules
import Secrets
import Terminal
import Tools

/// `unconfigure TOOL`, for any tool but git.
struct UnconfigureToolCommand<Index: TableIndex>: Command {
    private static var tool: ToolSetup { Index.setup }
    private var tool: ToolSetup { Index.setup }

    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: tool.name, abstract: "Undo `lanyard configure \(tool.name)`.",
            usage: "lanyard unconfigure \(tool.name) [<options>]"
                + (tool.url == .none ? "" : tool.url.isHost ? " [<host>]" : " [<url>]"),
            discussion: """
                Removes only what lanyard wrote, and restores what was there before. Later changes stay, and so do rules, \
                tokens and passwords.
                """)
    }

    static var examples: KeyValuePairs<String, String> {
        ["Make \(tool.name) stop using lanyard": "lanyard unconfigure \(tool.name)"]
    }

    @Argument(help: .url(of: Self.tool, "The URL that was configured; every one if left out"))
    var url: String?

    @Option(help: .profile(of: Self.tool, "The profile that was configured; every one if left out."))
    var profile: String?

    @OptionGroup var options: ChangeOptions

    mutating func validate() throws {
        if url != nil { try tool.url.validate(url, for: tool.name) }
        try tool.validate(profile: profile)
    }

    mutating func run(in context: CommandContext) async throws {
        let record = try ToolRecord(context)
        try record.requireKnown(tool.name)
        let all = try record.entries()
        let mine = try entriesMeant(of: all.filter { $0.tool == tool.name }, context)
        let changed = try mine.filter(in: .changed)
        for entry in changed { tell(changed: entry, context) }
        let standing = try mine.filter(in: .standing, .removed)
        // Only the record still has the previous values.
        let kept = changed.filter { $0.before != nil }
        let done = mine.filter { !kept.contains($0) }
        guard !standing.isEmpty else {
            if changed.isEmpty { tellNothing(all, context) }
            return try forget(done, record)
        }
        let settings = tool.settings(try ToolTarget(context))
        try settings.requireOwn(standing.map(\.change.setting.file).uniqued)
        if !options.dryRun { try record.requireWritable(standing) }
        try options.requireAnswer(toChange: "the tool's settings", context)
        let others = all.filter { !mine.contains($0) }
        let gone = try standing.filter(in: .removed)
        let removed = standing.filter { $0.change.value == nil || gone.contains($0) }
        let there = standing.filter { !removed.contains($0) }
        there.byFile { file, entries in show(entries, file, others, context) }
        removed.byFile { file, entries in show(removed: entries, file, context) }
        for remark in settings.remarks(undoing: standing) { context.console.note(remark) }
        guard await options.confirm(context) else { return }
        let urls = settings.urls(undoing: standing)
        try undo(standing, done, record)
        context.tellRules(for: Set(urls.compactMap { URLPattern($0)?.place }), of: .user)
    }

    /// Returns the entries for the URL, however it is written, and the profile; all entries if there is neither.
    private func entriesMeant(
        of entries: [RecordedChange], _ context: CommandContext
    ) throws(CommandError) -> [RecordedChange] {
        let entries = entries.filter { profile == nil || tool.profile(of: $0.change.setting) == profile }
        guard let url else { return entries }
        let pattern = try tool.pattern(url)
        let changes = (try? tool.settings(ToolTarget(context, pattern)).changes()) ?? []
        return entries.filter { entry in
            entry.place.flatMap(URLPattern.init)?.means(pattern) == true || changes.contains(entry.change)
        }
    }

    private func tellNothing(_ all: [RecordedChange], _ context: CommandContext) {
        let what: Message? = url.map { "\($0)" } ?? profile.map { "the profile \($0)" }
        let end: Message = what.map { " for \($0)" } ?? ""
        context.console.note("there is nothing that lanyard configure \(tool.name) wrote\(end)")
        let places = Set(all.filter { $0.tool == tool.name }.map { $0.place ?? "every URL" }).sorted()
        if what != nil, !places.isEmpty {
            context.console.note("it wrote something for \(places.joined(separator: ", "))")
        }
        let pattern = url.flatMap { try? tool.pattern($0) }
        for change in tool.unrecorded(all, for: pattern, context) {
            let file = context.short(change.setting.file)
            guard !change.setting.format.isWholeFile else {
                context.console.note(
                    Hint("\(file) stays, which no record names; to remove it", run: "rm\(last: change.setting.file)"))
                continue
            }
            context.console.note("this stays in \(file), which no record names; remove it by hand:")
            context.console.show(rows: change.setting.shown(change.value ?? ""))
        }
    }

    /// Says that a written value was changed since, and how to restore the previous one.
    private func tell(changed entry: RecordedChange, _ context: CommandContext) {
        let setting = entry.change.setting
        context.console.note("what lanyard wrote to \(context.short(setting.file)) was changed since, so it stays")
        guard let before = entry.before, setting.canPutBack else { return }
        context.console.show(rows: tool.shown(before), after: "it replaced")
        let name = (setting.key.last ?? "").displayable(limit: 200)
        let url: ShellCommand = "lanyard unconfigure \(tool.name)"
        context.console.note(Hint("to put that back, remove \(name) from the file, then", run: url))
    }

    private func show(removed entries: [RecordedChange], _ file: String, _ context: CommandContext) {
        let console = context.console
        console.note("this \(options.dryRun ? "would be" : "is") put back into \(context.short(file)):")
        console.show(rows: entries.reversed().formerRows(tool.shown))
    }

    private func show(
        _ entries: [RecordedChange], _ file: String, _ others: [RecordedChange], _ context: CommandContext
    ) {
        let console = context.console
        let kept = entries.filter { entry in others.contains { $0.change == entry.change } }
        let leaving = entries.filter { !kept.contains($0) }
        for entry in kept {
            let tools = Set(others.filter { $0.change == entry.change }.map(\.tool)).sorted().joined(separator: ", ")
            console.note("this stays in \(context.short(file)), because \(tools) needs it:")
            console.show(rows: entry.change.setting.shown(entry.change.value ?? ""))
        }
        guard !leaving.isEmpty else { return }
        let verb = options.dryRun ? "would be" : "is"
        // A link or a program is the whole file.
        guard !leaving.areWholeFiles else { return console.note("\(context.short(file)) \(verb) removed") }
        console.note("this \(verb) removed from \(context.short(file)):")
        for entry in leaving {
            console.show(rows: entry.change.setting.shown(entry.change.value ?? ""))
            guard let before = entry.before else { continue }
            console.show(rows: tool.shown(before), after: "and put back:")
        }
    }

    /// Undoes the changes that were shown, except those that somebody else has undone meanwhile.
    private func undo(
        _ shown: [RecordedChange], _ done: [RecordedChange], _ record: ToolRecord
    ) throws(CommandError) {
        let locked = try record.file.locked()
        var entries = try record.entries()
        // Undoes the last change first, so that each finds the file as it left it.
        for entry in shown.reversed() {
            guard let place = entries.firstIndex(where: { $0.isSame(as: entry) }) else { continue }
            let entry = entries.remove(at: place)
            try undo(entry, &entries)
            try locked.write(entries)
        }
        try locked.write(entries.filter { old in !done.contains { $0.isSame(as: old) } })
    }

    /// Undoes one change; the former state of its file passes to another entry for the same file.
    private func undo(_ entry: RecordedChange, _ others: inout [RecordedChange]) throws(CommandError) {
        var file = entry.file
        if let heir = others.lastIndex(where: { $0.change.setting.file == entry.change.setting.file }) {
            others[heir].file.adopt(file)
            file = FileBefore()
        }
        let isShared = others.contains { $0.change == entry.change }
        if !isShared, try [.standing, .removed].contains(entry.state()) {
            try entry.change.setting.write(entry.before, asIn: file)
        }
        file.removeFolders()
        for folder in file.folders {
            let heir = others.lastIndex { $0.change.setting.file.hasPrefix("\(folder)/") }
            if let heir { others[heir].file.adopt(folders: [folder]) }
        }
    }

    /// Removes entries from the record that are no longer in place.
    private func forget(_ entries: [RecordedChange], _ record: ToolRecord) throws(CommandError) {
        guard !entries.isEmpty, !options.dryRun else { return }
        let locked = try record.file.locked()
        try locked.write(try record.entries().filter { !entries.contains($0) })
    }
}

extension [RecordedChange] {
    /// Returns the entries in one of these states.
    fileprivate func filter(in states: RecordedChange.State...) throws(CommandError) -> [RecordedChange] {
        var found: [RecordedChange] = []
        for entry in self where states.contains(try entry.state()) { found.append(entry) }
        return found
    }
}
