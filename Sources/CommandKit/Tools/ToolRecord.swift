import JSON
package import Terminal
package import Tools

/// The record of what `configure TOOL` wrote into the tool's files, so that `unconfigure TOOL` removes that and nothing
/// else.
package struct ToolRecord: Sendable {
    package let file: RecordFile

    /// - Throws: `CommandError` if the environment has no place for it.
    package init(_ context: CommandContext) throws(CommandError) {
        file = try RecordFile("tool-changes.json", of: "the tools' settings", context)
    }

    /// Returns the changes that haven't been undone, but for those that a later lanyard made and this one can't read.
    package func entries() throws(CommandError) -> [RecordedChange] {
        let changes = try file.changes()
        guard changes.allSatisfy({ $0["tool"]?.string != nil }) else { throw file.foreign }
        return changes.compactMap(RecordedChange.init)
    }

    /// Throws if a later lanyard has changed a tool's settings so that this one can't tell how.
    package func requireKnown(_ tool: String) throws(CommandError) {
        guard try file.changes().allSatisfy({ $0["tool"]?.string != tool || RecordedChange($0) != nil }) else {
            throw file.unknown(tool)
        }
    }

    /// Throws if the entries' files or the record can't be written, before the user is asked anything.
    package func requireWritable(_ entries: [RecordedChange]) throws(CommandError) {
        for entry in entries { try entry.change.setting.requireWritable() }
        try file.requireWritable()
    }
}

extension LockedRecordFile {
    /// Replaces all entries that can be read.
    package func write(_ entries: [RecordedChange]) throws(CommandError) {
        try write(entries.map(\.json)) { RecordedChange($0) == nil }
    }
}
