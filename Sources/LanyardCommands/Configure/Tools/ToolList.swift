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
                uses(of: tool).displayable(limit: 500),
            ])
        }
        return Table(rows).wrapped(columns: OutputWidth.ofTerminal, indent: 0)
    }

    private func uses(of tool: any ConfigurableTool.Type) -> String {
        if tool.isConfigured(context) { return "uses lanyard" }
        let standing = entries.filter { $0.tool == tool.name && ((try? $0.change.stands()) ?? false) }
        let places = Set(standing.compactMap(\.place)).sorted()
        return places.isEmpty ? "doesn't use lanyard" : "uses lanyard for \(places.joined(separator: ", "))"
    }

    private func usesOfGit() async -> String {
        guard let entries = try? await GitConfiguration.everything() else { return "doesn't use lanyard" }
        if GitHelpers(entries, for: nil).hasLanyard { return "uses lanyard" }
        let places = GitChecks.lanyardPlaces(entries)
        return places.isEmpty
            ? "doesn't use lanyard" : "uses lanyard for \(places.joined(separator: ", ").displayable(limit: 500))"
    }
}
