import Addresses
import ArgumentParser
import Rules
import Secrets
import Terminal

/// `configure TOOL`, for any tool but git.
struct ConfigureToolCommand<Tool: ConfigurableTool>: Command {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: Tool.name, abstract: "Make \(Tool.purpose).",
            usage: "lanyard configure \(Tool.name) [<options>]\(Tool.url.usage)",
            discussion: Tool.discussion
                + " Shows the changes and asks first; `lanyard unconfigure \(Tool.name)` undoes them.")
    }

    static var examples: KeyValuePairs<String, String> {
        ["Make \(Tool.name) use lanyard": "lanyard configure \(Tool.name)\(Tool.exampleOfURL)"]
    }

    @Argument(help: .url(of: Tool.self, "The URL to use lanyard for"))
    var url: String?

    @OptionGroup var options: ToolOptions

    mutating func validate() throws { try Tool.url.validate(url, for: Tool.name) }

    mutating func run(in context: CommandContext) async throws {
        let pattern = try url.map { url throws(Failure) in try Tool.pattern(url) }
        let place = try ToolPlace(context, pattern)
        let plan = try ToolPlan(Tool.self, place)
        guard try await take(plan, context) else { return }
        if Tool.installed(context) == nil {
            context.console.note("\(Tool.programs.joined(separator: " or ")) is not on PATH; this counts once it is")
        }
        if let helper = Tool.helper, context.program(helper) == nil { context.console.note(.missing(helper, context)) }
        for note in try Tool.notes(place) { context.console.note(note) }
    }

    /// False if nothing came of it.
    private func take(_ plan: ToolPlan, _ context: CommandContext) async throws(Failure) -> Bool {
        let console = context.console
        guard !plan.changes.isEmpty else {
            console.note("\(Tool.name) is configured already; nothing has to be changed")
            if !options.dryRun { try plan.write() }
            return true
        }
        if !options.dryRun { try plan.requireWritable() }
        try options.requireAnswer(context)
        plan.changes.byFile { file, entries in
            console.note("this \(options.dryRun ? "would be" : "is") written to \(context.short(file)):")
            for entry in entries {
                for line in entry.change.setting.shown(entry.change.value) { console.note("  \(line.displayable())") }
                if let before = entry.before { console.note("  instead of \(before.displayable(limit: 300))") }
            }
        }
        guard await options.mayGoOn(context) else { return false }
        try plan.write()
        return true
    }
}

/// `unconfigure TOOL`, for any tool but git.
struct UnconfigureToolCommand<Tool: ConfigurableTool>: Command {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: Tool.name, abstract: "Undo `lanyard configure \(Tool.name)`.",
            usage: "lanyard unconfigure \(Tool.name) [<options>]\(Tool.url == .none ? "" : " [<url>]")",
            discussion: """
                Takes back only what lanyard wrote, and puts back what stood there before. What was changed since stays, and so do rules, \
                tokens and passwords.
                """)
    }

    static var examples: KeyValuePairs<String, String> {
        ["Make \(Tool.name) stop using lanyard": "lanyard unconfigure \(Tool.name)"]
    }

    @Argument(help: .url(of: Tool.self, "The URL that was configured; every one if left out"))
    var url: String?

    @OptionGroup var options: ToolOptions

    mutating func validate() throws {
        if url != nil { try Tool.url.validate(url, for: Tool.name) }
    }

    mutating func run(in context: CommandContext) async throws {
        let pattern = try url.map { url throws(Failure) in try Tool.pattern(url) }
        let record = try ToolRecord(context)
        let mine = try record.entries().filter { $0.isMeant(by: Tool.name, pattern?.text) }
        let standing = try mine.standing()
        for entry in mine where !standing.contains(entry) { tell(changed: entry, context) }
        guard !standing.isEmpty else {
            context.console.note("there is nothing that lanyard configure \(Tool.name) wrote")
            return try forget(mine, record)
        }
        if !options.dryRun { try requireWritable(standing, record) }
        try options.requireAnswer(context)
        standing.byFile { file, entries in show(entries, file, context) }
        guard await options.mayGoOn(context) else { return }
        try take(back: standing, mine, record)
    }

    private func requireWritable(_ entries: [ToolRecord.Entry], _ record: ToolRecord) throws(Failure) {
        for entry in entries { try entry.change.setting.requireWritable() }
        try record.file.requireWritable()
    }

    /// Says that what was written is no longer there; nothing if it is gone.
    private func tell(changed entry: ToolRecord.Entry, _ context: CommandContext) {
        guard let now = try? entry.change.setting.current(), now != entry.before else { return }
        context.console.note(
            "what lanyard wrote to \(context.short(entry.change.setting.file)) was changed since, so it stays")
    }

    private func show(_ entries: [ToolRecord.Entry], _ file: String, _ context: CommandContext) {
        let console = context.console
        console.note("this \(options.dryRun ? "would be" : "is") taken out of \(context.short(file)):")
        for entry in entries {
            for line in entry.change.setting.shown(entry.change.value) { console.note("  \(line.displayable())") }
            if let before = entry.before { console.note("  and put back: \(before.displayable(limit: 300))") }
        }
    }

    /// Takes back what was shown, less what somebody else has taken back meanwhile.
    private func take(
        back shown: [ToolRecord.Entry], _ mine: [ToolRecord.Entry], _ record: ToolRecord
    ) throws(Failure) {
        let locked = try record.file.locked()
        var entries = try record.entries()
        // The last that was written goes first, so that each finds what it left.
        for entry in shown.reversed() where entries.contains(entry) {
            entries.removeAll { $0 == entry }
            let isShared = entries.contains { $0.change == entry.change }
            if !isShared, try entry.change.stands() {
                try entry.change.setting.write(entry.before, removesFile: entry.isNewFile)
            }
            try locked.write(entries)
        }
        try locked.write(entries.filter { !mine.contains($0) })
    }

    /// Forgets what is no longer there.
    private func forget(_ entries: [ToolRecord.Entry], _ record: ToolRecord) throws(Failure) {
        guard !entries.isEmpty, !options.dryRun else { return }
        let locked = try record.file.locked()
        try locked.write(try record.entries().filter { !entries.contains($0) })
    }
}

/// Whether to ask before a tool's settings are changed.
struct ToolOptions: ParsableArguments, ChangeOptions {
    static let subject = "the tool's settings"

    @Flag(name: [.customLong("dry-run"), .customShort("n")], help: "Show the changes without making them.")
    var dryRun = false

    @Flag(name: .shortAndLong, help: "Don't ask first.")
    var yes = false
}

extension ToolRecord.Entry {
    /// Whether it is a tool's and counts for a URL, if one is named.
    fileprivate func isMeant(by tool: String, _ url: String?) -> Bool {
        self.tool == tool && (url == nil || place == url)
    }
}

extension ConfigurableTool {
    /// The pattern that a person means by a URL: of a host without wildcards, which no tool knows.
    fileprivate static func pattern(_ url: String) throws(Failure) -> URLPattern {
        let pattern = try URLPattern(typed: url)
        guard !pattern.host.name.utf8.contains(UInt8(ascii: "*")) else {
            throw Failure("\(name) knows no wildcards in hosts", hints: ["name one host"], status: .usage)
        }
        return pattern
    }
}

extension ToolURL {
    fileprivate var usage: String {
        switch self {
        case .none: ""
        case .optional: " [<url>]"
        case .required: " <url>"
        }
    }

    /// Refuses a URL that is missing, or that a tool doesn't take.
    fileprivate func validate(_ url: String?, for tool: String) throws {
        switch self {
        case .none where url != nil:
            throw ValidationError("\(tool) can't be told to ask for one URL only; leave the URL out")
        case .required where url == nil: throw ValidationError("\(tool) asks for one URL only; name it")
        default: break
        }
    }
}

extension ArgumentHelp {
    /// The help of a tool's URL, hidden if it takes none.
    fileprivate static func url(of tool: any ConfigurableTool.Type, _ text: String) -> ArgumentHelp {
        let isClear = tool.url == .required || text.utf8.contains(UInt8(ascii: ";"))
        let help = isClear ? "\(text)." : "\(text); every URL if left out."
        return ArgumentHelp(stringLiteral: help).hidden(tool.url == .none)
    }

    private func hidden(_ isHidden: Bool) -> ArgumentHelp {
        var help = self
        if isHidden { help.visibility = .hidden }
        return help
    }
}

extension Hint {
    /// A program of lanyard's that a tool doesn't find.
    static func missing(_ program: String, _ context: CommandContext) -> Hint {
        guard let folder = InstalledFiles(context).folder(of: program) else {
            return Hint("\(program) is not on PATH; it is a link to lanyard, which lanyard's installation makes")
        }
        return Hint("\(program) is not on PATH; add its folder", write: "export PATH=\"\(folder.displayable()):$PATH\"")
    }
}
