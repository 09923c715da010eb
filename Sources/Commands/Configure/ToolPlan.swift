import Addresses
import CommandKit
import Secrets
import SettingsFile
import Terminal
import Tools

/// The changes that make a tool ask lanyard.
struct ToolPlan: Sendable {
    /// The missing changes.
    let changes: [RecordedChange]
    /// The values that another tool's configuration already wrote, and that this tool needs, too.
    private let shared: [RecordedChange]
    private let tool: ToolSetup
    private let place: ToolTarget
    private let context: CommandContext

    /// Determines what is missing.
    init(_ tool: ToolSetup, _ place: ToolTarget, _ context: CommandContext) throws(CommandError) {
        self.tool = tool
        self.place = place
        self.context = context
        let settings = tool.settings(place)
        let record = try ToolRecord(context)
        try record.requireKnown(tool.name)
        let recorded = try record.entries()
        var (changes, shared): ([RecordedChange], [RecordedChange]) = ([], [])
        for change in try settings.changes() {
            if let entry = try Self.entry(for: change, of: tool, place, recorded) {
                changes.append(entry)
            } else if let other = recorded.first(where: { $0.change == change && $0.tool != tool.name }) {
                shared.append(
                    .init(tool: tool.name, place: place.url, change: change, before: other.before, file: other.file))
            }
        }
        try settings.requireOwn(changes.map(\.change.setting.file).uniqued)
        (self.changes, self.shared) = (changes, shared)
    }

    /// Returns the entry for a change; nil if the value is already in place.
    ///
    /// If the current value is lanyard's own, the entry has the value from before that.
    private static func entry(
        for change: ToolChange, of tool: ToolSetup, _ place: ToolTarget, _ recorded: [RecordedChange]
    ) throws(CommandError) -> RecordedChange? {
        let current = try change.setting.current()
        guard current != change.value else { return nil }
        try change.setting.requireTaking(change.value)
        if let first = try recorded.first(inPlaceOf: current, at: change.setting) {
            return .init(tool: tool.name, place: place.url, change: change, before: first.before, file: first.file)
        }
        do throws(SettingsError) {
            var file = try FileBefore(of: change.setting)
            // The section may exist only because of another value of lanyard's.
            if recorded.contains(where: { $0.change.setting.isBeside(change.setting) && !$0.file.hasSection }) {
                file.hasSection = false
            }
            return .init(tool: tool.name, place: place.url, change: change, before: current, file: file)
        } catch {
            throw CommandError(error)
        }
    }

    /// Throws if the changes can't be written, before the user is asked anything.
    func requireWritable() throws(CommandError) {
        guard !changes.isEmpty else { return }
        try ToolRecord(context).requireWritable(changes)
    }

    /// Records the changes and then writes them, so that lanyard never leaves a change without a record, even if it is
    /// killed.
    ///
    /// - Throws: `CommandError` also if other changes would be needed by now.
    func write() throws(CommandError) {
        guard !changes.isEmpty || !shared.isEmpty else { return }
        let record = try ToolRecord(context)
        let locked = try record.file.locked()
        var now = try ToolPlan(tool, place, context).changes
        // Another lanyard may have written the same changes meanwhile.
        guard now == changes || now.isEmpty else {
            throw CommandError(
                "\(tool.name)'s settings changed meanwhile, so nothing was written", hints: ["try again"])
        }
        for index in now.indices {
            now[index].file.adopt(folders: FileBefore.missingFolders(for: now[index].change.setting))
        }
        let before =
            try record.entries().kept().filter { old in !(now + shared).contains { $0.isSame(as: old) } } + shared
        try locked.write(before + now)
        var written = 0
        do throws(CommandError) {
            for entry in now {
                try entry.change.setting.write(entry.change.value)
                written += 1
            }
        } catch {
            // Values that weren't written may be there as the user's own.
            try? locked.write(before + now.prefix(written))
            throw error
        }
        let left = before.filter { old in !now.contains { $0.change.setting == old.change.setting } }
        // What lanyard wrote there earlier is gone.
        if left.count < before.count { try locked.write(left + now) }
    }
}

extension [RecordedChange] {
    /// Returns the entry with the value that a setting had before lanyard changed it.
    fileprivate func first(inPlaceOf current: String?, at setting: ToolSetting) throws(CommandError) -> RecordedChange?
    {
        for old in self where old.change.setting == setting {
            if old.change.value == current { return old }
            if old.isStillOfLanyard(current), try old.isKept() { return old }
        }
        return nil
    }

    /// Returns the values from before the changes as they are in the file, with each section's header once.
    func formerRows(_ shown: (String) -> [String]) -> [String] {
        var rows: [String] = []
        var header: String?
        for entry in self {
            let own = entry.change.setting.shown(shown(entry.before ?? "").joined(separator: "\n"))
            let isRepeated = own.count > 1 && own.first == header
            rows += own.dropFirst(isRepeated ? 1 : 0)
            header = own.first
        }
        return rows
    }

    /// Whether nothing but links is made, which have no text to show.
    var areLinks: Bool { allSatisfy { $0.change.setting.format == .link } }

    /// Whether each change is a whole file, without a previous one to restore.
    var areWholeFiles: Bool { allSatisfy { $0.change.setting.format.isWholeFile && $0.before == nil } }

    /// Calls `body` for each file with its entries, in their order.
    func byFile(_ body: (_ file: String, _ entries: [RecordedChange]) -> Void) {
        for file in map(\.change.setting.file).uniqued { body(file, filter { $0.change.setting.file == file }) }
    }
}
