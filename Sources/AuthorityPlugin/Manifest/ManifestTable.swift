import CredentialProtocol
import TOMLKit

/// One table of a manifest, with where it is, so that every complaint names a line.
struct ManifestTable {
    private let table: TOMLTable
    private let place: [TOMLPlace.Step]
    private let file: String
    private let text: String

    init(_ table: TOMLTable, at place: [TOMLPlace.Step], file: String, text: String) {
        self.table = table
        self.place = place
        self.file = file
        self.text = text
    }

    /// Refuses every key but these, and names the nearest of them.
    func allow(_ known: [String]) throws(PluginProblem) {
        for key in table.keys.sorted() where !known.contains(key) {
            let nearest = NearestName.to(key, in: known)
            throw problem(
                key, "unknown key \(key.displayable(limit: 64))",
                hint: nearest.map { "did you mean \($0)?" }
                    ?? "the keys known here are \(known.joined(separator: ", "))")
        }
    }

    func optional(_ key: String, _ form: WireForm) throws(PluginProblem) -> String? {
        guard let value = table[key] else { return nil }
        guard let text = value.string, form.accepts(text), !text.isEmpty else {
            throw problem(key, "\(key) has a value that can't be used")
        }
        return text
    }

    func text(_ key: String, _ form: WireForm) throws(PluginProblem) -> String {
        guard let value = try optional(key, form) else { throw problem(nil, "\(key) is missing") }
        return value
    }

    func list(_ key: String, _ form: WireForm, required: Bool = false) throws(PluginProblem) -> [String] {
        guard let value = table[key] else {
            if required { throw problem(nil, "\(key) is missing") }
            return []
        }
        guard let array = value.array, array.count <= 256, !(required && array.isEmpty) else {
            throw problem(key, "\(key) is not a list of texts")
        }
        var values: [String] = []
        for element in array {
            guard let text = element.string, form.accepts(text) else {
                throw problem(key, "\(key) holds a value that can't be used")
            }
            values.append(text)
        }
        return values
    }

    func tables(_ key: String) throws(PluginProblem) -> [ManifestTable] {
        guard let value = table[key] else { return [] }
        guard let array = value.array, array.count <= 256 else { throw problem(key, "\(key) is not [[\(key)]] tables") }
        var tables: [ManifestTable] = []
        for (index, element) in array.enumerated() {
            guard let inner = element.table else { throw problem(key, "\(key) is not [[\(key)]] tables") }
            let place = place + [TOMLPlace.Step(table: key, index: index)]
            tables.append(ManifestTable(inner, at: place, file: file, text: text))
        }
        return tables
    }

    /// A problem with one key of this table, or with the table where the key is nil.
    func problem(_ key: String?, _ message: String, hint: String? = nil) -> PluginProblem {
        PluginProblem(file: file, line: TOMLPlace.line(of: key, in: place, of: text), message, hint: hint)
    }
}

/// Finds the line of a key in the text of a TOML file.
///
/// TOMLKit tells positions of syntax errors only, so this looks for the table's header and then for the key. It serves
/// messages only: where the file writes its tables in another way (inline, dotted), the nearest line above is given.
enum TOMLPlace {
    /// One `[[table]]` on the way down, by its place among its like.
    struct Step: Equatable {
        let table: String
        let index: Int
    }

    /// The line, counted from 1, or nil for the whole file.
    static func line(of key: String?, in place: [Step], of text: String) -> Int? {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        var header: Int?
        var start = lines.startIndex
        if let step = place.last {
            let headers = lines.indices.filter { words(lines[$0]).hasPrefix("[[\(step.table)]]") }
            guard step.index < headers.count else { return nil }
            header = headers[step.index] + 1
            start = headers[step.index] + 1
        }
        guard let key else { return header }
        for index in lines[start...].indices {
            let line = words(lines[index])
            if isKey(key, line) || line.hasPrefix("[\(key)]") || line.hasPrefix("[[\(key)]]") { return index + 1 }
            if !place.isEmpty, line.hasPrefix("[") { break }
        }
        return header
    }

    private static func isKey(_ key: String, _ line: String) -> Bool {
        line.hasPrefix(key + "=") || line.hasPrefix("\"\(key)\"=") || line.hasPrefix("'\(key)'=")
    }

    /// The line without blanks, which may stand almost anywhere in TOML.
    private static func words(_ line: Substring) -> String {
        String(line.filter { $0 != " " && $0 != "\t" && $0 != "\r" })
    }
}

/// Finds what somebody may have meant.
enum NearestName {
    /// The known name fewest edits away from this one, or nil where all are far.
    static func to(_ name: String, in known: [String]) -> String? {
        let ranked = known.map { (name: $0, edits: edits(Array(name.utf8.prefix(64)), Array($0.utf8))) }
        guard let best = ranked.min(by: { $0.edits < $1.edits }), best.edits <= max(2, best.name.count / 3) else {
            return nil
        }
        return best.name
    }

    /// Levenshtein's distance.
    private static func edits(_ one: [UInt8], _ other: [UInt8]) -> Int {
        var row = Array(0...other.count)
        for (i, byte) in one.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, against) in other.enumerated() {
                let replaced = diagonal + (byte == against ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, row[j] + 1, row[j + 1] + 1)
            }
        }
        return row.last ?? 0
    }
}
