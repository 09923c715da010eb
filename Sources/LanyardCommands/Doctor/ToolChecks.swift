import Addresses
import Rules
import Terminal
import Tools

extension Examination {
    /// Checks the tools besides git that use lanyard: a finding for each one that was configured or finds lanyard by
    /// itself, none for other tools.
    func toolFindings() async -> [Finding] {
        let entries: [RecordedChange]
        do throws(Failure) {
            entries = try ToolRecord(context).entries()
        } catch {
            return [.fail("tools", error)]
        }
        var findings: [Finding] = []
        for tool in ToolSetup.all {
            guard let finding = await finding(of: tool, entries.filter { $0.tool == tool.name }) else { continue }
            findings.append(finding)
        }
        return findings
    }

    private func finding(of tool: ToolSetup, _ entries: [RecordedChange]) async -> Finding? {
        let check = "tools.\(tool.name)"
        let isNamed = (try? ToolPlace(context)).map { !tool.settings($0).urlsFound.isEmpty } ?? false
        let isInUse =
            tool.installed(context) != nil && (isNamed || tool.isConfigured(context, isRecorded: false))
        guard isInUse || !entries.isEmpty else { return nil }
        if let changed = entries.first(where: { !$0.change.stands }) {
            let file = context.short(changed.change.setting.file)
            let remedy = Hint("to write it again", run: "lanyard configure \(tool.name)\(last: changed.place)")
            return .warn(check, "what lanyard wrote to \(file) was changed", remedy)
        }
        if let helper = tool.helper, context.program(helper) == nil {
            return .fail(check, "\(tool.name) can't find \(helper)", .missing(helper, context))
        }
        if let unread = entries.first(where: { !tool.reads($0, context) }) {
            let file = context.short(unread.change.setting.file)
            let remedy = Hint("to configure it here, too", run: "lanyard configure \(tool.name)\(last: unread.place)")
            return .warn(check, "\(tool.name) does not read \(file) here, where it is told to ask lanyard", remedy)
        }
        if let outdated = await tool.outdated(context) {
            return .warn(check, "\(tool.name) is configured to ask lanyard, but is too old to do so", outdated)
        }
        // Whether a place works is a question about that place.
        let places = (entries.isEmpty ? [nil] : entries.map(\.place).uniqued).map { $0.flatMap(URLPattern.init) }
        let faults = places.flatMap { place in (try? tool.settings(ToolPlace(context, place)).faults()) ?? [] }
        guard let fault = faults.first else { return .pass(check, "\(tool.name) asks lanyard") }
        return .warn(check, "\(tool.name) is configured to ask lanyard, but may not", fault)
    }
}
