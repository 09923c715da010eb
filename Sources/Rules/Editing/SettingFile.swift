public import SettingsFile

/// A configuration file whose top-level keys are set and unset one by one, while the rest stays as it is.
public struct SettingFile: Sendable {
    private let file: SettingsText
    private var text: String { file.text ?? "" }

    /// Reads a file; a missing one is empty.
    ///
    /// - Throws: `SettingsError` if the file is invalid.
    public init(reading path: String) throws(SettingsError) {
        file = try SettingsText(reading: path)
        _ = try Configuration(path, file.text ?? "")
    }

    /// Sets a key, creating the file if it is missing.
    ///
    /// - Parameters:
    ///   - key: One of `Configuration.settingKeys`.
    ///   - value: The new value, which must be valid.
    ///   - schema: The location of the configuration's schema, for the first line of a new file.
    /// - Throws: `SettingsError` if the file can't be changed, or has changed since it was read.
    public func set(_ key: String, to value: SettingValue, schema: String?) throws(SettingsError) {
        let start = file.text ?? schema.map { "#:schema \($0)\n" } ?? ""
        let changed = try TableKeys(file: file.path, text: start).setting(key, to: value.inTOML)
        try replace(with: changed, changing: key, hint: "add this by hand: \(key) = \(value.inTOML)")
    }

    /// Removes a key, with anything after it on its line; false if the file doesn't have it.
    ///
    /// - Throws: `SettingsError` if the file can't be changed, or has changed since it was read.
    public func unset(_ key: String) throws(SettingsError) -> Bool {
        guard let changed = try TableKeys(file: file.path, text: text).removing(key) else { return false }
        try replace(with: changed, changing: key, hint: "take `\(key)` out by hand")
        return true
    }

    /// Writes a text that differs from the current one in a single key.
    private func replace(with changed: String, changing key: String, hint: String) throws(SettingsError) {
        guard
            try Configuration.rest(of: changed, but: key, in: file.path)
                == Configuration.rest(of: text, but: key, in: file.path)
        else {
            throw SettingsError(file: file.path, line: nil, message: "cannot be changed automatically", hint: hint)
        }
        try file.replace(with: changed, for: Configuration.readers(of: file.path))
    }
}
