package import JSON
import Secrets
public import Terminal

/// A table of a TOML file, read strictly: a key with the wrong type or an unknown key is an error with its line.
public struct SettingsTable: Sendable {
    /// The file's path, for messages.
    public let file: String

    /// All tables of the file, and which of them this one is.
    private let tables: [TOMLTable]
    private let index: Int

    private var entries: [String: TOMLEntry] { tables[index].entries }

    /// The table as JSON; dates and times are texts.
    package var json: JSONValue { json(of: .table(index)) }

    private func json(of value: TOMLValue) -> JSONValue {
        switch value {
        case .string(let text), .moment(let text): .string(text)
        case .integer(let number): .integer(Int64(number))
        case .float(let number): .number(number)
        case .boolean(let truth): .bool(truth)
        case .array(let elements): .array(elements.map { json(of: $0.value) })
        case .table(let index): .object(tables[index].entries.mapValues { json(of: $0.value) })
        case .tables(let list): .array(list.map { json(of: .table($0)) })
        }
    }
}

extension SettingsTable {
    /// Parses the text of a file.
    ///
    /// - Throws: `SettingsError` if it isn't valid TOML.
    public init(file: String, text: String) throws(SettingsError) {
        self.init(file: file, tables: try TOMLDocument(text, file: file).tables, index: 0)
    }

    /// The line at which the table begins, from 1; nil for the top-level table.
    public var line: Int? { tables[index].line }

    /// Returns the line that sets a key, from 1; nil if it isn't known.
    public func line(of key: String) -> Int? { entries[key]?.line }

    /// The table's keys, sorted.
    public var keys: [String] { entries.keys.sorted() }

    /// Refuses unknown keys.
    ///
    /// - Throws: `SettingsError` with the first unknown key, its line and the nearest known key.
    public func allow(only known: [String]) throws(SettingsError) {
        if let fault = unknown(besides: known).first { throw fault }
    }

    /// Returns an error for each unknown key, with its line and the nearest known key.
    public func unknown(besides known: [String]) -> [SettingsError] {
        keys.filter { !known.contains($0) }.map { key in
            let longer = key.utf8.count > 2 ? known.first { $0.hasPrefix(key) } : nil
            let near: Message? = (known.nearest(to: key) ?? longer).map { "did you mean `\($0)`?" }
            return error(
                key, "unknown key `\(key)`",
                hint: near ?? "the keys known here are \(known.sorted().joined(separator: ", "))")
        }
    }

    /// Returns the string value of a key; nil if the key is missing.
    public func string(_ key: String) throws(SettingsError) -> String? {
        switch entries[key]?.value {
        case nil: return nil
        case .string(let text)?: return text
        default: throw error(key, "`\(key)` must be a string in quotes")
        }
    }

    /// Returns the integer value of a key; nil if the key is missing.
    public func integer(_ key: String) throws(SettingsError) -> Int? {
        switch entries[key]?.value {
        case nil: return nil
        case .integer(let number)?: return number
        default: throw error(key, "`\(key)` must be a whole number")
        }
    }

    /// Returns the boolean value of a key; nil if the key is missing.
    public func boolean(_ key: String) throws(SettingsError) -> Bool? {
        switch entries[key]?.value {
        case nil: return nil
        case .boolean(let truth)?: return truth
        default: throw error(key, "`\(key)` must be true or false")
        }
    }

    /// Returns the strings of a key; nil if the key is missing.
    public func strings(_ key: String) throws(SettingsError) -> [String]? {
        guard let entry = entries[key] else { return nil }
        guard case .array(let elements) = entry.value else {
            throw error(key, "`\(key)` must be a list of strings, such as [\"one\", \"two\"]")
        }
        var texts: [String] = []
        for (index, element) in elements.enumerated() {
            guard case .string(let text) = element.value else {
                throw error(key, element: index, "`\(key)` holds something other than a quoted string")
            }
            texts.append(text)
        }
        return texts
    }

    /// Returns the table `[key]`; nil if it is missing.
    public func table(_ key: String) throws(SettingsError) -> SettingsTable? {
        switch entries[key]?.value {
        case nil: return nil
        case .table(let index)?: return SettingsTable(file: file, tables: tables, index: index)
        default: throw error(key, "`\(key)` must be a table: [\(key)]")
        }
    }

    /// Returns the tables `[[key]]` in the file's order; empty if there are none.
    public func tables(_ key: String) throws(SettingsError) -> [SettingsTable] {
        let indices: [Int?]
        switch entries[key]?.value {
        case nil: indices = []
        case .tables(let list)?: indices = list
        case .array(let elements)?:
            indices = elements.map { if case .table(let index) = $0.value { index } else { nil } }
        default: indices = [nil]
        }
        let known = indices.compactMap(\.self)
        guard known.count == indices.count else { throw error(key, "`\(key)` must be tables: [[\(key)]]") }
        return known.map { SettingsTable(file: file, tables: tables, index: $0) }
    }

    /// Returns an error about an element of a key's list, counted from 0.
    public func error(_ key: String, element: Int, _ message: Message, hint: Message? = nil) -> SettingsError {
        var line = entries[key]?.line
        switch entries[key]?.value {
        case .array(let elements)? where elements.indices.contains(element): line = elements[element].line
        case .tables(let list)? where list.indices.contains(element): line = tables[list[element]].line
        default: break
        }
        return SettingsError(file: file, line: line, message: message, hint: hint)
    }

    /// Returns an error about a key of this table, or about the table if it doesn't have the key or the key is nil.
    public func error(_ key: String?, _ message: Message, hint: Message? = nil) -> SettingsError {
        SettingsError(file: file, line: key.flatMap { entries[$0]?.line } ?? line, message: message, hint: hint)
    }
}

/// An error in a TOML file, or of the plugin that it is the manifest of, with its position and a suggestion.
public struct SettingsError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file's path.
    public let file: String
    /// The line, from 1; nil if it isn't known.
    public let line: Int?
    /// One sentence for the user: lower case, no full stop.
    public let message: Message
    /// The nearest valid value, or a remedy.
    public let hint: Message?
    /// The words of a command that fixes it; empty if there is none.
    public let command: [String]
    /// Whether the user lacks a permission that root would have.
    public let lacksPermission: Bool
    /// The name of the plugin's folder; nil if it isn't about one plugin.
    package var plugin: String?

    /// Creates an error.
    public init(
        file: String, line: Int? = nil, message: Message, hint: Message? = nil, command: [String] = [],
        lacksPermission: Bool = false
    ) {
        self.file = file
        self.line = line
        self.message = message
        self.hint = hint
        self.command = command
        self.lacksPermission = lacksPermission
    }

    /// The error as `FILE:LINE: MESSAGE`, like a compiler's.
    public var description: String { inFile.text }

    package var inFile: Message {
        let line: Message = line.map { ":\($0)" } ?? ""
        return "\(file, limit: 4096)\(line): \(message)"
    }
}

extension CommandError {
    /// Creates the error for a configuration file or manifest that isn't valid.
    package init(_ error: SettingsError) { self.init(error.inFile, hints: error.hints) }
}

extension SettingsError {
    /// The remedies.
    package var hints: [Hint] {
        guard command.isEmpty else { return [Hint(hint ?? "run", run: ShellCommand(words: command))] }
        return [hint].compactMap(\.self).map { Hint($0) }
    }
}

extension Sequence<String> {
    /// Returns the member that is nearest to a mistyped word; nil if none is near.
    ///
    /// Of several, it is the one with the longest common prefix.
    public func nearest(to word: String) -> String? {
        guard word.utf8.count <= 128 else { return nil }
        let ranked = map { name in
            let start = zip(name.utf8, word.utf8).prefix { $0 == $1 }.count
            return (name: name, distance: name.editDistance(to: word), start: start)
        }.min { ($0.distance, -$0.start) < ($1.distance, -$1.start) }
        // Of a two-letter word, at least one letter must remain.
        guard let ranked, ranked.distance <= Swift.max(2, ranked.name.count / 3), ranked.distance < ranked.name.count
        else { return nil }
        return ranked.name
    }
}

extension String {
    /// Returns the Levenshtein distance: the fewest letters to insert, delete or replace.
    package func editDistance(to other: String) -> Int {
        let columns = Array(other)
        var row = Array(0...columns.count)
        for (index, letter) in enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, otherLetter) in columns.enumerated() {
                let replaced = diagonal + (letter == otherLetter ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = Swift.min(replaced, row[column] + 1, diagonal + 1)
            }
        }
        return row[columns.count]
    }
}
