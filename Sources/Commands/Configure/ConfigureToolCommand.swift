import Addresses
import ArgumentParser
import CommandKit
import Rules
import Secrets
import Terminal
import Tools

/// `configure TOOL`, for any tool but git.
struct ConfigureToolCommand<Index: TableIndex>: Command {
    private static var tool: ToolSetup { Index.setup }
    private var tool: ToolSetup { Index.setup }

    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: tool.name, abstract: "Make \(tool.purpose).",
            usage: "lanyard configure \(tool.name) [<options>]\(tool.url.usage)",
            discussion: tool.discussion
                + " Shows the changes and asks first; `lanyard unconfigure \(tool.name)` undoes them.")
    }

    static var examples: KeyValuePairs<String, String> {
        [tool.purposeOfExample ?? "Make \(tool.name) use lanyard": "lanyard configure \(tool.name)\(tool.exampleOfURL)"]
    }

    @Argument(help: .url(of: Self.tool, "The URL to use lanyard for"))
    var url: String?

    @Option(help: .profile(of: Self.tool, "The profile in the tool's settings; by default that of the tool."))
    var profile: String?

    @OptionGroup var options: ChangeOptions

    mutating func validate() throws {
        try tool.url.validate(url, for: tool.name)
        try tool.validate(profile: profile)
    }

    mutating func run(in context: CommandContext) async throws {
        let offer = url == nil && tool.url == .offered ? try await offer(context) : nil
        let url = url ?? offer?.url
        let pattern = try url.map { url throws(CommandError) in try tool.pattern(url) }
        let place = try ToolTarget(context, pattern, profile: profile ?? offer?.profile)
        let settings = tool.settings(place)
        try settings.requireUse()
        let plan = try ToolPlan(tool, place, context)
        // Read them first: the changes replace the settings that they come from.
        var rules = try settings.rules()
        if let url, let pattern, let note = tool.leftOut(of: url, for: pattern) { context.console.note(note) }
        // What a profile's own tool finds on this machine, it needs no lanyard for.
        let isWanted = rules.isEmpty && !tool.hasProfiles
        let others = isWanted ? try pattern.map { try ToolSetup.rules(for: $0, context) } ?? [] : []
        let found =
            isWanted
            ? try await HostRule.found(for: pattern, isOnlyWay: others.isEmpty, options.prompt(context), context) : nil
        if found == nil { rules += others }
        let isDone = try await apply(plan, settings, found, context)
        if isDone || options.dryRun {
            try await rules.offer(options.prompt(context), isLeft: isDone && !options.dryRun, context)
        }
        guard isDone else {
            guard options.dryRun else { return }
            for choice in try settings.choices() { context.console.note(choice) }
            return
        }
        if tool.installed(context) == nil {
            context.console.note(.notInstalled(tool.programs))
        }
        if let outdated = await tool.outdated(context) { context.console.note(outdated) }
        if let helper = tool.helper, context.program(helper) == nil { context.console.note(.missing(helper, context)) }
        for note in try settings.notes() { context.console.note(note) }
    }

    /// Returns the URL to take if none was typed: that of the profile, the only one, or the one that the user chooses.
    private func offer(_ context: CommandContext) async throws(CommandError) -> ToolOffer {
        let settings = tool.settings(try ToolTarget(context, profile: profile))
        let offers = settings.offers()
        let names = offers.map(\.profile).joined(separator: ", ").displayable(limit: 500)
        let example: ShellCommand =
            "lanyard configure \(tool.name)\(last: String(tool.exampleOfURL.trimmed(of: " \\\n")))"
        if let profile = settings.namedProfile {
            if let own = offers.first(where: { $0.profile == profile }) { return own }
            var hints = [Hint("give the URL, too, such as", run: "\(example)\(option: "--profile", profile)")]
            if !offers.isEmpty { hints.insert("name one of these: \(names)", at: 0) }
            throw CommandError(
                "\(tool.name) has no profile \(profile) that implies a URL", hints: hints,
                status: .usage)
        }
        if offers.count == 1 { return offers[0] }
        guard let first = offers.first else {
            throw CommandError(
                "\(tool.name) needs a URL", hints: [Hint("such as", run: example)], status: .usage)
        }
        guard !options.yes, let prompt = Prompt(context) else {
            throw CommandError(
                "several profiles imply a URL: \(names)",
                hints: [Hint("name one", run: "lanyard configure \(tool.name) --profile \(first.profile)")],
                status: .usage)
        }
        let rows: [Message] = offers.map { "\($0.profile): \($0.summary)" }
        let choice = await prompt.choice("which of these should \(tool.name) get from lanyard?", among: rows) { name in
            offers.firstIndex { $0.profile == name }
        }
        guard let choice else {
            throw CommandError("nothing was changed: nothing was chosen", cause: .ofNoAnswer)
        }
        return offers[choice]
    }

    /// Returns false if nothing was changed.
    private func apply(
        _ plan: ToolPlan, _ settings: any ToolSettings, _ found: HostRule?, _ context: CommandContext
    ) async throws(CommandError) -> Bool {
        let console = context.console
        guard !plan.changes.isEmpty || found != nil else {
            let isInUse = settings.place.pattern != nil || ToolList(context).use(of: tool).isForAll
            if let reason = try settings.reasonForNothing() {
                console.note(reason)
                return true
            }
            console.note(
                isInUse
                    ? "\(tool.name) is configured already; nothing has to be changed"
                    : "nothing has to be changed, but \(tool.name) does not ask lanyard yet")
            if !options.dryRun { try plan.write() }
            return true
        }
        if !options.dryRun { try plan.requireWritable() }
        try options.requireAnswer(toChange: "the tool's settings", context)
        plan.changes.byFile { file, entries in
            let (verb, shown) = (options.dryRun ? "would be" : "is", context.short(file))
            let removed = entries.filter { $0.change.value == nil }
            let written = entries.filter { $0.change.value != nil }
            if !written.isEmpty {
                console.note(entries.areLinks ? "\(shown) \(verb) made:" : "this \(verb) written to \(shown):")
            }
            for entry in written { show(entry.change, console) }
            if !removed.isEmpty {
                console.note("this \(verb) removed from \(shown), because \(tool.name) would go by it first:")
            }
            console.show(rows: removed.reversed().formerRows { [$0] })
        }
        for remark in try tool.relativePaths(context) + settings.remarks() { console.note(remark) }
        found?.show(isDryRun: options.dryRun)
        guard await options.confirm(context) else { return false }
        try plan.write()
        try found?.write()
        return true
    }

    private func show(_ change: ToolChange, _ console: Console) {
        guard let value = change.value else { return }
        let setting = change.setting
        console.show(rows: setting.shown(value))
        guard let now = try? setting.current(), !now.trimmed(of: " \t\r\n").isEmpty else { return }
        console.show(rows: tool.shown(now), after: "instead of")
    }
}

extension TableIndex {
    /// The tool at this place among those that `configure` knows.
    static var setup: ToolSetup { ToolSetup.all[index] }
    static var configure: any ParsableCommand.Type { ConfigureToolCommand<Self>.self }
    static var unconfigure: any ParsableCommand.Type { UnconfigureToolCommand<Self>.self }
}

extension ToolSetup {
    /// Throws if a profile is named to a tool that has none.
    func validate(profile: String?) throws {
        if profile != nil, !hasProfiles { throw ValidationError("\(name) has no profiles; leave it out") }
    }

    /// Returns the rules by which other tools' own sign-ins serve a host.
    fileprivate static func rules(
        for pattern: URLPattern, _ context: CommandContext
    ) throws(CommandError) -> [NeededRule] {
        let place = try ToolTarget(context)
        var rules: [NeededRule] = []
        for setup in all {
            if let rule = try setup.settings(place).rule(for: pattern) { rules.append(rule) }
        }
        return rules
    }
}

extension TableIndices {
    static var ofSetups: [any TableIndex.Type] { types(ToolSetup.all.count) }
}

extension ToolURL {
    var usage: String {
        switch self {
        case .none: ""
        case .optional, .offered: " [<url>]"
        case .required: " <url>"
        case .host: " <host>"
        }
    }

    /// Throws if a URL is missing, or given to a tool that doesn't take one.
    func validate(_ url: String?, for tool: String) throws {
        switch self {
        case .none where url != nil:
            throw ValidationError("\(tool) takes no URL; leave it out")
        case .required where url == nil: throw ValidationError("\(tool) needs a URL")
        case .host(let what, _) where url == nil: throw ValidationError("\(tool) needs \(what)")
        default: break
        }
    }
}

extension ArgumentHelp {
    /// Returns the help for the option that names a profile, hidden if a tool has none.
    static func profile(of tool: ToolSetup, _ text: String) -> ArgumentHelp {
        ArgumentHelp(text, valueName: "name", visibility: tool.hasProfiles ? .default : .hidden)
    }

    /// Returns the help for a tool's URL, hidden if it takes none.
    static func url(of tool: ToolSetup, _ text: String) -> ArgumentHelp {
        if case .host(_, let help) = tool.url { return ArgumentHelp(help, valueName: "host") }
        let isClear = tool.url == .required || text.utf8.contains(UInt8(ascii: ";"))
        if tool.url == .offered, !isClear {
            return ArgumentHelp("\(text); if left out, you choose among those of your profiles.")
        }
        return ArgumentHelp(
            isClear ? "\(text)." : "\(text); every URL if left out.",
            visibility: tool.url == .none ? .hidden : .default)
    }
}
