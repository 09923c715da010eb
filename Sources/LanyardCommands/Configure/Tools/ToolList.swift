import Secrets
import Terminal

/// Which tools are installed, and which use lanyard.
struct ToolList {
    private let context: CommandContext
    private let entries: [ToolRecord.Entry]

    /// - Throws: `Failure` if the record can't be read.
    init(_ context: CommandContext) throws(Failure) {
        self.context = context
        entries = try ToolRecord(context).entries()
    }

    /// A line for each tool.
    func lines() async -> [String] {
        let git = context.program("git") == nil ? "not installed" : "installed"
        var rows = [["git", git, await usesOfGit()]]
        for tool in Tools.all {
            rows.append([
                tool.name, tool.installed(context) == nil ? "not installed" : "installed",
                use(of: tool).text.displayable(limit: 500),
            ])
        }
        return Table(rows).wrapped(columns: OutputWidth.ofTerminal, indent: 0)
    }

    /// How a tool uses lanyard.
    func use(of tool: any ConfigurableTool.Type) -> ToolUse {
        let standing = entries.filter { $0.tool == tool.name && ((try? $0.change.stands()) ?? false) }
        // A link that came with lanyard is there without the tool.
        let isMeant = tool.installed(context) != nil || !standing.isEmpty
        return ToolUse(
            tool: tool, isForAll: isMeant && tool.isConfigured(context),
            places: Set(standing.compactMap(\.place)).sorted())
    }

    private func usesOfGit() async -> String {
        guard let entries = try? await GitConfiguration.everything() else { return "doesn't use lanyard" }
        if GitHelpers(entries, for: nil).hasLanyard { return "uses lanyard" }
        let places = GitChecks.lanyardPlaces(entries)
        return places.isEmpty
            ? "doesn't use lanyard" : "uses lanyard for \(places.joined(separator: ", ").displayable(limit: 500))"
    }
}

/// How a tool uses lanyard.
struct ToolUse: Sendable {
    let tool: any ConfigurableTool.Type
    /// Whether it asks lanyard for everything.
    let isForAll: Bool
    /// The URLs that it asks lanyard for.
    let places: [String]

    /// For people.
    var text: String {
        if isForAll { return "uses lanyard" }
        return places.isEmpty ? "doesn't use lanyard" : "uses lanyard for \(places.joined(separator: ", "))"
    }

    /// How to have it use lanyard; nil if it does.
    var hint: Hint? {
        guard !isForAll, places.isEmpty else { return nil }
        let url: ShellCommand = tool.url == .required ? " URL" : ""
        return Hint("\(tool.name) does not ask lanyard yet", run: "lanyard configure \(tool.name)\(url)")
    }
}
