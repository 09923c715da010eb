import Addresses
import JSON
import ToolTexts

/// A value that `configure` writes for a tool.
struct ToolChange: Sendable, Hashable {
    let setting: ToolSetting
    let value: String

    init(_ format: ToolSetting.Format, _ key: String..., in file: String, to value: String) {
        setting = ToolSetting(format, key, in: file)
        self.value = value
    }

    init(_ setting: ToolSetting, to value: String) {
        self.setting = setting
        self.value = value
    }

    /// Whether it stands there.
    func stands() throws(Failure) -> Bool { try setting.current() == value }
}

/// What `configure TOOL` wrote into the tool's files, so that `unconfigure TOOL` takes back that and nothing else.
struct ToolRecord: Sendable {
    /// A change, and what it took the place of.
    struct Entry: Sendable, Hashable {
        let tool: String
        /// The URL it counts for; nil for all.
        let place: String?
        let change: ToolChange
        /// The value that stood there before; nil if there was none.
        let before: String?
        /// What the file was, besides.
        var file: FileBefore

        /// Whether another says the same of the same, but perhaps not what the file was.
        func isSame(as other: Entry) -> Bool {
            (tool, place, change, before) == (other.tool, other.place, other.change, other.before)
        }
    }

    let file: RecordFile

    /// - Throws: `Failure` if the environment has no place for it.
    init(_ context: CommandContext) throws(Failure) {
        file = try RecordFile("tool-changes.json", of: "the tools' settings", context)
    }

    /// What was written, as far as nobody has taken it back.
    func entries() throws(Failure) -> [Entry] { try file.changes(Entry.init) }
}

extension ToolRecord.Entry {
    /// What became of what was written.
    enum State {
        /// It stands there.
        case standing
        /// Somebody took it out, and what stood there before can be put back.
        case removed
        /// Something else stands there.
        case changed
        /// It is gone, and nothing is to be put back.
        case gone
    }

    func state() throws(Failure) -> State {
        let now = try change.setting.current()
        if now == change.value { return .standing }
        if now == before { return .gone }
        guard now == nil else { return .changed }
        return change.setting.canPutBack ? .removed : .gone
    }

    /// Whether the record goes on telling of it: while it stands, and as long as only the record has what stood there before.
    func isKept() throws(Failure) -> Bool {
        switch try state() {
        case .standing, .removed: true
        case .changed: before != nil
        case .gone: false
        }
    }

    /// Whether what stands there now is what lanyard wrote, taken out or changed, and not another's.
    func isStillOfLanyard(_ current: String?) -> Bool { current.map { $0.hasBytes("lanyard") } ?? (before != nil) }
}

extension [ToolRecord.Entry] {
    /// Those that the record goes on telling of.
    func kept() throws(Failure) -> [ToolRecord.Entry] {
        var kept: [ToolRecord.Entry] = []
        for entry in self where try entry.isKept() { kept.append(entry) }
        return kept
    }
}

extension LockedRecordFile {
    /// Puts other entries in place of all.
    func write(_ entries: [ToolRecord.Entry]) throws(Failure) { try write(entries.map(\.json)) }
}

extension ToolRecord.Entry {
    fileprivate init?(_ json: JSONValue) {
        guard let tool = json["tool"]?.string, let file = json["file"]?.string, let value = json["value"]?.string,
            let format = json["format"]?.string.flatMap(ToolSetting.Format.init), let key = json["key"]?.elements
        else { return nil }
        let names = key.compactMap(\.string)
        guard names.count == key.count, names.isEmpty == format.isWholeFile else { return nil }
        self.init(
            tool: tool, place: json["for"]?.string, change: ToolChange(ToolSetting(format, names, in: file), to: value),
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
