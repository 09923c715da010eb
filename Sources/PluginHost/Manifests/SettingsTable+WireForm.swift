import PluginWire
import SettingsFile

/// Values in a manifest become part of messages or paths, so each must have the form of its kind.
extension SettingsTable {
    /// The highest number of values in a list, and of tables of one kind.
    private static let mostValues = 256

    /// Returns a text of this form; nil if the key is missing.
    func text(_ key: String, _ form: WireForm) throws(SettingsError) -> String? {
        guard let text = try string(key) else { return nil }
        guard form.accepts(text), !text.isEmpty else { throw error(key, "`\(key)` has a value that can't be used") }
        return text
    }

    func requiredText(_ key: String, _ form: WireForm) throws(SettingsError) -> String {
        guard let text = try text(key, form) else { throw error(nil, "`\(key)` is missing") }
        return text
    }

    /// Returns texts of this form; none if the key is missing.
    func list(_ key: String, _ form: WireForm) throws(SettingsError) -> [String] {
        let texts = try strings(key) ?? []
        guard texts.count <= Self.mostValues else { throw error(key, "`\(key)` holds more than \(Self.mostValues)") }
        guard texts.allSatisfy(form.accepts) else { throw error(key, "`\(key)` holds a value that can't be used") }
        return texts
    }

    /// Returns texts of this form, at least one.
    func requiredList(_ key: String, _ form: WireForm) throws(SettingsError) -> [String] {
        let texts = try list(key, form)
        guard !texts.isEmpty else { throw error(key, "`\(key)` must hold at least one string") }
        return texts
    }

    /// Returns the tables `[[key]]`.
    func each(_ key: String) throws(SettingsError) -> [SettingsTable] {
        let tables = try tables(key)
        guard tables.count <= Self.mostValues else {
            throw error(key, "there are more than \(Self.mostValues) tables [[\(key)]]")
        }
        return tables
    }
}
