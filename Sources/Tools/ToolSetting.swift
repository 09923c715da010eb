import Addresses
import Files
import Glibc
import JSON
import Secrets
package import SettingsFile
package import Terminal

/// A setting of a tool: its file and its place in the file.
///
/// Values are text as in the file, including quotes, so that restoring one changes nothing else.
package struct ToolSetting: Sendable, Hashable {
    /// The format of the file, which decides what the parts of the key mean.
    package enum Format: String, Sendable {
        /// A JSON object; the key is the path of member names.
        case json
        /// JSON with comments and trailing commas.
        case jsonWithComments = "jsonc"
        /// TOML; the key is one outside of tables, or a table and its key.
        case toml
        /// Sections; the key is a section and its key.
        case ini
        /// `key=value` lines; the key is the key.
        case lines
        /// A whole line, which is there or not; the key is the line.
        case line
        /// A whole line before all others: ssh applies what follows a `Host` to that host only.
        case firstLine = "first-line"
        /// A kubeconfig; the key is the name of a user, the value the rows of what gets its tokens.
        case kubeUser
        /// A separate program; the value is its whole text.
        case script
        /// A separate file; the value is its whole text.
        case document
        /// A symbolic link; the value is its target.
        case link

        /// Whether the file contains nothing else.
        package var isWholeFile: Bool { [.script, .document, .link].contains(self) }

        /// Whether the file is JSON, with or without comments.
        var isJSON: Bool { [.json, .jsonWithComments].contains(self) }
    }

    package let file: String
    package let format: Format
    package let key: [String]

    package init(_ format: Format, _ key: [String] = [], in file: String) {
        self.format = format
        self.key = key
        self.file = file
    }
}

extension ToolSetting {
    /// Returns the value in the file's text.
    package func value(in text: String) throws(SettingsError) -> String? {
        switch format {
        case .json, .jsonWithComments: isEmpty(text) ? nil : try json(text).value(at: key)
        case .toml: try toml(text).value(of: name)
        case .ini, .lines: LineSettings(text, section: table).value(of: name)
        case .line: text.pieces(between: "\n").contains { $0.trimmed(of: " \t\r") == name } ? name : nil
        case .firstLine: text.linesBeforeHosts.contains { $0 == name } ? name : nil
        case .kubeUser: Kubeconfig(text).users.first { $0.name == name }?.text
        case .script, .document: text
        case .link: nil
        }
    }

    /// Whether the text has the section, table or object of the setting.
    package func hasSection(in text: String) throws(SettingsError) -> Bool {
        switch format {
        case .json where key.count < 2, .jsonWithComments where key.count < 2: true
        case .json, .jsonWithComments: isEmpty(text) ? false : try json(text).value(at: Array(key.dropLast())) != nil
        case .toml: try toml(text).hasTable
        case .ini: LineSettings(text, section: table).hasSection
        default: true
        }
    }

    /// Returns the empty JSON object to which a new value would be added, or the whole text if it is blank, so that no blanks are
    /// lost; nil if it isn't empty.
    package func emptyObject(in text: String) throws(SettingsError) -> String? {
        guard format.isJSON else { return nil }
        return text.isBlank ? text : try json(text).emptyObject(on: key)
    }

    /// Whether another setting is in the same section of the same file.
    package func isBeside(_ other: ToolSetting) -> Bool {
        file == other.file && format == other.format && key.count > 1 && key.dropLast() == other.key.dropLast()
    }

    /// Whether a new value needs an empty line around it.
    package func setsApart(in text: String) throws(SettingsError) -> Bool {
        switch format {
        case .toml: try toml(text).setsNewKeyApart
        case .line: text.hasSuffix("\\") || text.hasSuffix("\\\n") || text.hasSuffix("\\\r\n")
        default: false
        }
    }

    /// Returns the file's text with a value, or without one if it is nil.
    package func text(
        _ old: String?, with value: String?, isSetApart: Bool = false, keepingSection: Bool = false,
        emptyObject: String? = nil
    ) throws(SettingsError) -> String {
        // docker reads an empty file as an empty object.
        let text = format.isJSON && (old ?? "").isBlank ? "{}\n" : old ?? ""
        switch format {
        case .json, .jsonWithComments:
            guard let value else {
                let wasBlank = emptyObject?.isBlank ?? false
                let changed = try json(text).removing(
                    key, keepingObjects: keepingSection, empty: wasBlank ? "{}" : emptyObject ?? "{}")
                return wasBlank && isEmpty(changed) ? emptyObject ?? "" : changed
            }
            guard let changed = try json(text).setting(value, at: key) else {
                throw fault(nil, "the value of \(key[0].displayable(limit: 60)) is not an object")
            }
            return changed
        case .toml:
            let keys = try toml(text)
            if let value { return keys.setting(name, to: value) }
            return keys.removing(name, setApart: isSetApart, keepingTable: keepingSection) ?? text
        case .ini, .lines:
            let lines = LineSettings(text, section: table)
            if format == .ini, value != nil, let line = lines.firstFault {
                throw fault(line, "neither a section nor a setting in one")
            }
            return value.map { lines.setting(name, to: $0) }
                ?? lines.removing(name, keepingSection: keepingSection)
        case .line: return try value == nil ? withoutLine(text, isSetApart) : withLine(text)
        case .firstLine: return value == nil ? withoutLine(text, false) : "\(name)\n\(text)"
        case .kubeUser:
            let config = Kubeconfig(text)
            guard let value, let user = config.users.first(where: { $0.name == name }) else { return text }
            guard let changed = config.replacing(user, with: value) else {
                throw fault(
                    nil, "the user \(name.displayable(limit: 200)) cannot be changed without changing more of the file",
                    hint: "give that user settings of its own first, without anchors (&)")
            }
            return changed
        case .script, .document: return value ?? ""
        case .link: return text
        }
    }

    /// Returns the setting with a value as it looks in the file.
    package func shown(_ value: String) -> [String] {
        switch format {
        case .json, .jsonWithComments:
            let start = key.map { "\(JSONValue.string($0).encodedText): " }.joined(separator: "{ ")
            return [start + value + String(repeating: " }", count: key.count - 1)]
        case .toml, .ini:
            return (table.map { ["[\($0)]"] } ?? []) + "\(name) = \(value)".rows
        case .lines: return ["\(name)=\(value)"]
        case .line, .firstLine: return [name]
        case .kubeUser: return ["- name: \(name)", "  user:"] + value.rows.map { "    \($0)" }
        case .script, .document: return value.rows
        case .link: return ["a link to \(value)"]
        }
    }

    private var name: String { key.last ?? "" }
    private var table: String? { key.count > 1 ? key[0] : nil }

    private func json(_ text: String) throws(SettingsError) -> JSONText {
        let hasComments = format == .jsonWithComments
        guard let json = JSONText(text, allowingComments: hasComments) else {
            let line = JSONText.faultyLine(of: text, allowingComments: hasComments)
            throw fault(line, line == nil ? "not a JSON object" : "not valid JSON")
        }
        if let second = json.repeated(on: key) {
            let name = second.name.displayable(limit: 200)
            throw fault(second.line, "\(name) is there twice", hint: "remove one of them first")
        }
        return json
    }

    private func toml(_ text: String) throws(SettingsError) -> TableKeys {
        // The parser has better error messages.
        _ = try SettingsTable(file: file, text: text)
        return try TableKeys(of: table, file: file, text: text)
    }

    private func fault(_ line: Int?, _ message: Message, hint: Message = "correct it first") -> SettingsError {
        SettingsError(file: file, line: line, message: message, hint: hint)
    }

    private func withLine(_ text: String) throws(SettingsError) -> String {
        let lineEnd = text.hasBytes("\r\n") ? "\r\n" : "\n"
        let end = text.isEmpty || text.utf8.last == UInt8(ascii: "\n") ? "" : lineEnd
        // After a backslash, the line would be part of the previous one.
        let gap = try setsApart(in: text) ? lineEnd : ""
        return text + end + gap + name + lineEnd
    }

    private func withoutLine(_ text: String, _ isSetApart: Bool) -> String {
        var rows = text.pieces(between: "\n", omittingEmpty: false)
        let found = rows.indices.filter { rows[$0].trimmed(of: " \t\r") == name }
        guard let row = format == .firstLine ? found.first : found.last else { return text }
        rows.remove(at: row)
        if isSetApart, row > 0, rows[row - 1].trimmed(of: "\r").isEmpty { rows.remove(at: row - 1) }
        return rows.joined(separator: "\n")
    }

    /// Whether a text has no settings left.
    package func isEmpty(_ text: String) -> Bool {
        let rest = text.trimmed(of: " \t\r\n")
        return rest.isEmpty || format.isJSON && rest == "{}"
    }
}

extension String {
    /// Whether nothing is in it but blanks and ends of rows.
    fileprivate var isBlank: Bool { trimmed(of: " \t\r\n").isEmpty }

    /// The rows, with empty ones, but without what follows a final line feed.
    package var rows: [String] {
        let rows = pieces(between: "\n", omittingEmpty: false).map(String.init)
        return rows.last?.isEmpty == true ? rows.dropLast() : rows
    }

    /// The lines of ssh's settings that apply to every host, trimmed.
    fileprivate var linesBeforeHosts: [Substring] {
        pieces(between: "\n").map { $0.trimmed(of: " \t\r") }.prefix { line in
            let word = Substring(line.utf8.prefix { ![0x20, 0x09, UInt8(ascii: "=")].contains($0) })
            return !["host", "match"].contains(word.lowercased())
        }.map { $0 }
    }
}

extension ToolSetting {
    /// Returns the current value; nil if there is none.
    package func current() throws(CommandError) -> String? {
        guard format != .link else { return target }
        return try reading { () throws(SettingsError) in
            guard let text = try SettingsText(reading: file).text else { return nil }
            // A script that isn't executable doesn't count.
            return format == .script && access(file, X_OK) != 0 ? "" : try value(in: text)
        }
    }

    /// Writes a value, or removes it if it is nil.
    ///
    /// - Parameters:
    ///   - value: The new value.
    ///   - before: The former state of the file, to restore it.
    /// - Throws: `CommandError` if the file can't be written, or if it was changed meanwhile.
    package func write(_ value: String?, asIn before: FileBefore = FileBefore()) throws(CommandError) {
        guard format != .link else { return try link(to: value) }
        try reading { () throws(SettingsError) in
            let text = try SettingsText(reading: file)
            var changed = try self.text(
                text.text, with: value, isSetApart: before.isSetApart, keepingSection: before.hasSection,
                emptyObject: before.emptyObject)
            if before.isNew, value == nil, isEmpty(changed) { return try text.remove() }
            if before.isUnended, value == nil { changed = changed.unended(takenOutOf: text.text ?? "") }
            try text.replace(with: changed, for: format == .script ? .ownerToRun : .owner)
        }
    }

    /// Throws if the file's text can't take a value, before it is shown.
    package func requireTaking(_ value: String?) throws(CommandError) {
        guard format != .link else { return }
        try reading { () throws(SettingsError) in _ = try text(try SettingsText(reading: file).text, with: value) }
    }

    /// Throws if the file can't be written, before the user is asked anything.
    package func requireWritable() throws(CommandError) {
        try reading { () throws(SettingsError) in
            try SettingsText(reading: format == .link ? "\(file).lanyard-draft" : file).requireReplaceable()
        }
    }

    private func reading<Result>(_ body: () throws(SettingsError) -> Result) throws(CommandError) -> Result {
        do throws(SettingsError) { return try body() } catch { throw CommandError(error) }
    }

    /// Whether the previous value can be restored after somebody has removed the one that replaced it.
    package var canPutBack: Bool {
        ![.kubeUser, .script, .document, .link].contains(format) && FileStatus(of: file) != nil
    }

    /// The target of the link; empty if it isn't a link, nil if there is no file.
    private var target: String? {
        if let target = FileStatus.linkTarget(of: file) { return target }
        return errno == ENOENT || errno == ENOTDIR ? nil : ""
    }

    private func link(to value: String?) throws(CommandError) {
        guard let value else {
            unlink(file)
            return
        }
        let folder = FileTrust.parent(of: file)
        Folder.make(folder)
        do throws(FileError) {
            try Folder(folder).link(String(file.cut(atLast: "/")?.1 ?? file[...]), to: value)
        } catch {
            throw CommandError(
                "\(file) cannot be made: \(error.reason.lowercased())",
                hints: ["make its folder writable"])
        }
    }
}
