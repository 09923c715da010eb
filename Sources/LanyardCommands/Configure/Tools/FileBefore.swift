import Addresses
import Files
import Glibc
import JSON
import SettingsFile
import ToolTexts

/// The state of a tool's file before lanyard changed it, apart from the value itself, so that it can be restored.
struct FileBefore: Sendable, Hashable {
    /// Whether the file didn't exist.
    var isNew = false
    /// Whether the last line had no line feed.
    var isUnended = false
    /// Whether an empty line was added before the value.
    var isSetApart = false
    /// Whether the value's section, table or object already existed, perhaps empty.
    var hasSection = false
    /// The empty JSON object that the value was added to; nil if it wasn't empty, or had no blanks.
    var emptyObject: String?
    /// The folders that were made for the file, the outermost first.
    var folders: [String] = []

    init() {}

    /// Reads the current state of a file, without its folders.
    init(of setting: ToolSetting) throws(SettingsError) {
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
    static func missingFolders(for setting: ToolSetting) -> [String] {
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
    mutating func take(_ other: FileBefore) {
        isNew = isNew || other.isNew
        isUnended = isUnended || other.isUnended
        isSetApart = isSetApart || other.isSetApart
        emptyObject = other.emptyObject ?? emptyObject
        take(folders: other.folders)
    }

    /// Takes over the folders that were made for another change.
    mutating func take(folders others: [String]) {
        folders = others.filter { !folders.contains($0) } + folders
    }

    /// Removes the folders that are empty now; the others remain in `folders`.
    mutating func removeFolders() {
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
