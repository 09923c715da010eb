import Addresses
import JSON
import ToolTexts

/// A value that `configure` writes for a tool.
struct ToolChange: Sendable, Hashable {
    let setting: ToolSetting
    let value: String

    /// Whether the setting has this value; false if it can't be read.
    var stands: Bool { (try? setting.current()) == value }
}

extension ToolChange {
    init(_ format: ToolSetting.Format, _ key: [String] = [], in file: String, to value: String) {
        self.init(setting: ToolSetting(format, key, in: file), value: value)
    }
}

/// The record of what `configure TOOL` wrote into the tool's files, so that `unconfigure TOOL` removes that and nothing
/// else.
struct ToolRecord: Sendable {
    /// A change and what it replaced.
    struct Entry: Sendable, Hashable {
        let tool: String
        /// The URL that it applies to; nil for all.
        let place: String?
        let change: ToolChange
        /// The previous value; nil if there was none.
        let before: String?
        /// The state of the file before, apart from the value.
        var file: FileBefore

        /// Whether another entry is about the same change, regardless of the file's former state.
        func isSame(as other: Entry) -> Bool {
            (tool, place, change, before) == (other.tool, other.place, other.change, other.before)
        }
    }

    let file: RecordFile

    /// - Throws: `Failure` if the environment has no place for it.
    init(_ context: CommandContext) throws(Failure) {
        file = try RecordFile("tool-changes.json", of: "the tools' settings", context)
    }

    /// Returns the changes that haven't been undone, but for those that a later lanyard made and this one can't read.
    func entries() throws(Failure) -> [Entry] {
        let changes = try file.changes()
        guard changes.allSatisfy({ $0["tool"]?.string != nil }) else { throw file.foreign }
        return changes.compactMap(Entry.init)
    }

    /// Throws if a later lanyard has changed a tool's settings so that this one can't tell how.
    func requireKnown(_ tool: String) throws(Failure) {
        guard try file.changes().allSatisfy({ $0["tool"]?.string != tool || Entry($0) != nil }) else {
            throw file.unknown(tool)
        }
    }

    /// Throws if the entries' files or the record can't be written, before the user is asked anything.
    func requireWritable(_ entries: [Entry]) throws(Failure) {
        for entry in entries { try entry.change.setting.requireWritable() }
        try file.requireWritable()
    }
}

extension ToolRecord.Entry {
    /// The present state of a change.
    enum State {
        /// The value is in place.
        case standing
        /// Somebody removed the value, and the previous one can be restored.
        case removed
        /// Somebody replaced the value.
        case changed
        /// The value is gone, and there is nothing to restore.
        case gone
    }

    func state() throws(Failure) -> State {
        let now = try change.setting.current()
        if now == change.value { return .standing }
        if now == before { return .gone }
        guard now == nil else { return .changed }
        return change.setting.canPutBack ? .removed : .gone
    }

    /// Whether to keep the entry: while the value is in place, and as long as only the record has the previous value.
    func isKept() throws(Failure) -> Bool {
        switch try state() {
        case .standing, .removed: true
        case .changed: before != nil
        case .gone: false
        }
    }

    /// Whether the current value is lanyard's, removed or edited, and not another tool's.
    func isStillOfLanyard(_ current: String?) -> Bool { current.map { $0.hasBytes("lanyard") } ?? (before != nil) }
}

extension [ToolRecord.Entry] {
    /// Returns the entries to keep.
    func kept() throws(Failure) -> [ToolRecord.Entry] {
        var kept: [ToolRecord.Entry] = []
        for entry in self where try entry.isKept() { kept.append(entry) }
        return kept
    }
}

extension LockedRecordFile {
    /// Replaces all entries that can be read.
    func write(_ entries: [ToolRecord.Entry]) throws(Failure) {
        try write(entries.map(\.json)) { ToolRecord.Entry($0) == nil }
    }
}

extension ToolRecord.Entry {
    fileprivate init?(_ json: JSONValue) {
        guard let tool = json["tool"]?.string, let file = json["file"]?.string, let value = json["value"]?.string,
            let format = json["format"]?.string.flatMap(ToolSetting.Format.init), let key = json["key"]?.elements
        else { return nil }
        let names = key.compactMap(\.string)
        guard names.count == key.count, names.isEmpty == format.isWholeFile else { return nil }
        self.init(
            tool: tool, place: json["for"]?.string, change: ToolChange(format, names, in: file, to: value),
            before: json["before"]?.string, file: FileBefore(json))
    }

    fileprivate var json: JSONValue {
        let setting = change.setting
        let members: [String: JSONValue] = [
            "tool": .string(tool), "for": JSONValue(place), "file": .string(setting.file),
            "format": .string(setting.format.rawValue), "key": JSONValue(strings: setting.key),
            "value": .string(change.value), "before": JSONValue(before),
        ]
        return .object(members.merging(file.members) { $1 })
    }
}
