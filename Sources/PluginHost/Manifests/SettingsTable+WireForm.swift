import PluginWire
import SettingsFile

/// What a manifest's keys hold goes over the wire or into a path, so it must have the form of what it is.
extension SettingsTable {
    /// The most values in a list, and the most tables of a kind.
    private static let mostValues = 256

    /// A text of the form, or nil if the key is absent.
    func text(_ key: String, _ form: WireForm) throws(SettingsError) -> String? {
        guard let text = try string(key) else { return nil }
        guard form.accepts(text), !text.isEmpty else { throw error(key, "`\(key)` has a value that can't be used") }
        return text
    }

    func requiredText(_ key: String, _ form: WireForm) throws(SettingsError) -> String {
        guard let text = try text(key, form) else { throw error(nil, "`\(key)` is missing") }
        return text
    }

    /// Texts of the form; none if the key is absent.
    func list(_ key: String, _ form: WireForm) throws(SettingsError) -> [String] {
        let texts = try strings(key) ?? []
        guard texts.count <= Self.mostValues else { throw error(key, "`\(key)` holds more than \(Self.mostValues)") }
        guard texts.allSatisfy(form.accepts) else { throw error(key, "`\(key)` holds a value that can't be used") }
        return texts
    }

    /// Texts of the form, one at least.
    func requiredList(_ key: String, _ form: WireForm) throws(SettingsError) -> [String] {
        let texts = try list(key, form)
        guard !texts.isEmpty else { throw error(key, "`\(key)` must hold at least one string") }
        return texts
    }

    /// The tables `[[key]]`.
    func each(_ key: String) throws(SettingsError) -> [SettingsTable] {
        let tables = try tables(key)
        guard tables.count <= Self.mostValues else {
            throw error(key, "there are more than \(Self.mostValues) tables [[\(key)]]")
        }
        return tables
    }
}
