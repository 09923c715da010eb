import Addresses
import Files
import Glibc
import JSON
import SettingsFile
import ToolTexts

/// What a tool's file was before lanyard wrote to it, besides the value in it, so that it becomes the same again.
struct FileBefore: Sendable, Hashable {
    /// Whether there was no file.
    var isNew = false
    /// Whether its last line had no line feed.
    var isUnended = false
    /// Whether an empty line was put there too, to set the value apart.
    var isSetApart = false
    /// Whether the section, the table or the object of the value was there, perhaps empty.
    var hasSection = false
    /// The folders that were made for it, the outermost first.
    var folders: [String] = []

    init() {}

    /// What a file is now, less its folders.
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
    }

    /// The folders that would have to be made for a setting, the outermost first.
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

    /// Takes over what another change of the same file would have undone.
    mutating func take(_ other: FileBefore) {
        isNew = isNew || other.isNew
        isUnended = isUnended || other.isUnended
        isSetApart = isSetApart || other.isSetApart
        take(folders: other.folders)
    }

    /// Takes over folders that another change was the first to need.
    mutating func take(folders others: [String]) {
        folders = others.filter { !folders.contains($0) } + folders
    }

    /// Removes the folders that are empty now; those that aren't are left over.
    mutating func removeFolders() {
        while let last = folders.last, rmdir(last) == 0 || errno == ENOENT { folders.removeLast() }
    }
}

extension FileBefore {
    /// Reads what a record says.
    init(_ json: JSONValue) {
        isNew = json["new"] == .bool(true)
        isUnended = json["unended"] == .bool(true)
        isSetApart = json["apart"] == .bool(true)
        hasSection = json["section"] == .bool(true)
        folders = json["folders"]?.elements.compactMap(\.string) ?? []
    }

    /// The members of a record.
    var members: [String: JSONValue] {
        [
            "new": .bool(isNew), "unended": .bool(isUnended), "apart": .bool(isSetApart),
            "section": .bool(hasSection), "folders": JSONValue(strings: folders),
        ]
    }
}

extension String {
    /// The text less the line feed at its end, if what stood behind that was taken out of another text.
    func unended(takenOutOf old: String) -> String {
        guard utf8.last == UInt8(ascii: "\n"), old.utf8.starts(with: utf8) else { return self }
        // A carriage return before the line feed is one character with it, and came with it.
        return String(dropLast())
    }
}
