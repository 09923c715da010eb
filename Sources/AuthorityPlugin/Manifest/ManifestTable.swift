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
