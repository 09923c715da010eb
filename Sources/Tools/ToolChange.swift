import Addresses
import Files
import Glibc
package import JSON
package import SettingsFile
package import Terminal

/// A value that `configure` writes for a tool, or removes because the tool would go by it instead.
package struct ToolChange: Sendable, Hashable {
    package let setting: ToolSetting
    /// The value to write; nil to remove the setting.
    package let value: String?

    /// Whether the setting has this value; false if it can't be read.
    package var stands: Bool { (try? setting.current()) == value }
}

extension ToolChange {
    init(_ format: ToolSetting.Format, _ key: [String] = [], in file: String, to value: String) {
        self.init(setting: ToolSetting(format, key, in: file), value: value)
    }

    /// Whether a value is there afterwards that names lanyard.
    package var namesLanyard: Bool { value?.hasBytes("lanyard") == true }
}

/// A change and what it replaced.
package struct RecordedChange: Sendable, Hashable {
    package let tool: String
    /// The URL that it applies to; nil for all.
    package let place: String?
    package let change: ToolChange
    /// The previous value; nil if there was none.
    package let before: String?
    /// The state of the file before, apart from the value.
    package var file: FileBefore

    package init(tool: String, place: String?, change: ToolChange, before: String?, file: FileBefore) {
        (self.tool, self.place, self.change, self.before, self.file) = (tool, place, change, before, file)
    }

    /// Whether another entry is about the same change, regardless of the file's former state.
    package func isSame(as other: RecordedChange) -> Bool {
        (tool, place, change, before) == (other.tool, other.place, other.change, other.before)
    }
}

extension RecordedChange {
    /// The present state of a change.
    package enum State {
        /// The value is in place.
        case standing
        /// Somebody removed the value, and the previous one can be restored.
        case removed
        /// Somebody replaced the value.
        case changed
        /// The value is gone, and there is nothing to restore.
        case gone
    }

    package func state() throws(CommandError) -> State {
        let now = try change.setting.current()
        if now == change.value { return .standing }
        if now == before { return .gone }
        guard now == nil else { return .changed }
        return change.setting.canPutBack ? .removed : .gone
    }

    /// Whether to keep the entry: while the value is in place, and as long as only the record has the previous value.
    package func isKept() throws(CommandError) -> Bool {
        switch try state() {
        case .standing, .removed: true
        case .changed: before != nil
        case .gone: false
        }
    }

    /// Whether the current value is lanyard's, removed or edited, and not another tool's.
    package func isStillOfLanyard(_ current: String?) -> Bool {
        current.map { $0.hasBytes("lanyard") } ?? (before != nil)
    }
}

extension [RecordedChange] {
    /// Returns the entries to keep.
    package func kept() throws(CommandError) -> [RecordedChange] {
        var kept: [RecordedChange] = []
        for entry in self where try entry.isKept() { kept.append(entry) }
        return kept
    }
}

extension RecordedChange {
    package init?(_ json: JSONValue) {
        guard let tool = json["tool"]?.string, let file = json["file"]?.string, let value = json["value"],
            value == .null || value.string != nil,
            let format = json["format"]?.string.flatMap(ToolSetting.Format.init), let key = json["key"]?.elements
        else { return nil }
        let names = key.compactMap(\.string)
        guard names.count == key.count, names.isEmpty == format.isWholeFile else { return nil }
        self.init(
            tool: tool, place: json["for"]?.string,
            change: ToolChange(setting: ToolSetting(format, names, in: file), value: value.string),
            before: json["before"]?.string, file: FileBefore(json))
    }

    package var json: JSONValue {
        let setting = change.setting
        let members: [String: JSONValue] = [
            "tool": .string(tool), "for": JSONValue(place), "file": .string(setting.file),
            "format": .string(setting.format.rawValue), "key": JSONValue(strings: setting.key),
            "value": JSONValue(change.value), "before": JSONValue(before),
        ]
        return .object(members.merging(file.members) { $1 })
    }
}

/// The state of a tool's file before lanyard changed it, apart from the value itself, so that it can be restored.
package struct FileBefore: Sendable, Hashable {
    /// Whether the file didn't exist.
    var isNew = false
    /// Whether the last line had no line feed.
    var isUnended = false
    /// Whether an empty line was added before the value.
    var isSetApart = false
    /// Whether the value's section, table or object already existed, perhaps empty.
    package var hasSection = false
    /// The empty JSON object that the value was added to; nil if it wasn't empty, or had no blanks.
    var emptyObject: String?
    /// The folders that were made for the file, the outermost first.
    package var folders: [String] = []

    package init() {}

    /// Reads the current state of a file, without its folders.
    package init(of setting: ToolSetting) throws(SettingsError) {
        guard setting.format != .link else {
            isNew = FileStatus(of: setting.file) == nil
            return
        }
        let text = try SettingsText(reading: setting.file).text
        isNew = text == nil
        isUnended = text.map { !$0.isEmpty && $0.utf8.last != UInt8(ascii: "\n") } ?? false
        isSetApart = try setting.setsApart(in: text ?? "")
        hasSection = try setting.hasSection(in: text ?? "")
        emptyObject = try text.flatMap { text throws(SettingsError) in try setting.emptyObject(in: text) }
    }

    /// Returns the folders that would have to be made for a setting, the outermost first.
    package static func missingFolders(for setting: ToolSetting) -> [String] {
        var missing: [String] = []
        let file = setting.file
        var folder = FileTrust.parent(of: setting.format == .link ? file : SettingsText.target(of: file))
        while folder.utf8.count > 1, access(folder, F_OK) != 0, errno == ENOENT {
            missing.insert(folder, at: 0)
            folder = FileTrust.parent(of: folder)
        }
        return missing
    }

    /// Takes over the state of the file before another change to it.
    package mutating func adopt(_ other: FileBefore) {
        isNew = isNew || other.isNew
        isUnended = isUnended || other.isUnended
        isSetApart = isSetApart || other.isSetApart
        emptyObject = other.emptyObject ?? emptyObject
        adopt(folders: other.folders)
    }

    /// Takes over the folders that were made for another change.
    package mutating func adopt(folders others: [String]) {
        folders = others.filter { !folders.contains($0) } + folders
    }

    /// Removes the folders that are empty now; the others remain in `folders`.
    package mutating func removeFolders() {
        while let last = folders.last, rmdir(last) == 0 || errno == ENOENT { folders.removeLast() }
    }
}

extension FileBefore {
    /// Reads the state from a record.
    init(_ json: JSONValue) {
        isNew = json["new"] == .bool(true)
        isUnended = json["unended"] == .bool(true)
        isSetApart = json["apart"] == .bool(true)
        hasSection = json["section"] == .bool(true)
        emptyObject = json["object"]?.string
        folders = json["folders"]?.elements.compactMap(\.string) ?? []
    }

    /// The state as members of a record.
    var members: [String: JSONValue] {
        [
            "new": .bool(isNew), "unended": .bool(isUnended), "apart": .bool(isSetApart),
            "section": .bool(hasSection), "object": JSONValue(emptyObject), "folders": JSONValue(strings: folders),
        ]
    }
}

extension String {
    /// Returns the text without its last line feed if only text after that line feed was removed from `old`.
    func unended(takenOutOf old: String) -> String {
        guard utf8.last == UInt8(ascii: "\n"), old.utf8.starts(with: utf8) else { return self }
        // A carriage return before the line feed is part of the same character, and came with it.
        return String(dropLast())
    }
}
