import Addresses
public import SettingsFile
import Terminal

/// A table of a configuration file that may appear several times.
public protocol ConfigurationTable: Sendable, Equatable {
    /// The table's key, such as `rule`.
    static var key: String { get }
    /// The keys that are known.
    static var keys: [String] { get }
    /// The display name of several such tables.
    static var plural: String { get }
    /// The property of the configuration with these tables.
    static var member: WritableKeyPath<Configuration, [Self]> { get }

    /// The name that no other table of the kind may have; nil if several may be alike.
    var uniqueName: String? { get }
    /// Reads a table.
    ///
    /// - Throws: `SettingsError` if a key is unknown, missing or invalid.
    init(_ table: SettingsTable) throws(SettingsError)

    /// The table in TOML syntax, with its header.
    var toml: String { get }
    /// The file with the table; empty if it hasn't been written yet.
    var file: String { get set }
    /// The line at which it begins, from 1.
    var line: Int? { get set }
}

extension ConfigurationTable {
    /// The table without its position.
    var anywhere: Self {
        var table = self
        table.file = ""
        table.line = nil
        return table
    }
}

/// A configuration file whose tables of one kind are added and removed one by one, while the rest stays as it is.
public struct TableFile<Table: ConfigurationTable>: Sendable {
    /// The tables in the file, in order.
    public let tables: [Table]

    private let file: SettingsText
    private let blocks: TableBlocks
    private var text: String { file.text ?? "" }
    private var readers: SettingsText.Readers { Configuration.readers(of: file.path) }

    /// Reads a file; a missing one has no tables.
    ///
    /// - Throws: `SettingsError` if the file is invalid.
    public init(reading path: String) throws(SettingsError) {
        file = try SettingsText(reading: path)
        blocks = try TableBlocks(of: Table.key, file: path, text: file.text ?? "")
        tables = try Configuration(path, file.text ?? "")[keyPath: Table.member]
    }

    /// Checks that the file can be written, before the user is asked what to write.
    ///
    /// - Throws: `SettingsError` with the reason why it can't.
    public func requireWritable() throws(SettingsError) {
        try file.requireReplaceable()
    }

    /// Adds a table at the end of the file, which is created if it is missing.
    ///
    /// - Parameters:
    ///   - table: The new table.
    ///   - schema: The location of the configuration's schema, for the first line of a new file.
    /// - Throws: `SettingsError` if the file can't be changed, or has changed since it was read.
    public func add(_ table: Table, schema: String?) throws(SettingsError) {
        let start = file.text == nil ? schema.map { "#:schema \($0)\n" } ?? "" : text
        guard blocks.lines.count == tables.count else { throw unsure("add this by hand:\n\(table.toml)") }
        let opened = try TableBlocks(of: Table.key, file: file.path, text: start)
        try file.replace(with: opened.appending(table.toml), for: readers)
    }

    /// Removes a table from the file.
    ///
    /// - Throws: `SettingsError` if the file can't be changed without affecting something else.
    public func remove(_ table: Table) throws(SettingsError) {
        try change(table, to: nil, by: "remove")
    }

    /// Replaces one of the file's tables.
    ///
    /// - Throws: `SettingsError` if the file can't be changed without affecting something else.
    public func replace(_ table: Table, with other: Table) throws(SettingsError) {
        try change(table, to: other, by: "change")
    }

    private func change(_ table: Table, to other: Table?, by verb: String) throws(SettingsError) {
        let hint: Message = "\(verb) the \(Table.key) at \(file.path)\(table.line.map { ":\($0)" } ?? "") by hand"
        guard let index = tables.firstIndex(of: table), blocks.lines.count == tables.count else { throw unsure(hint) }
        let changed = other.map { blocks.replacing(index, with: $0.toml) } ?? blocks.removing(index)
        try file.replace(with: changed, for: readers)
    }

    private func unsure(_ hint: Message) -> SettingsError {
        SettingsError(
            file: file.path, line: nil,
            message:
                "cannot be changed automatically: not all its \(Table.plural) are [[\(Table.key)]] tables that are known",
            hint: hint)
    }
}

extension Configuration {
    /// Parses a single file by itself.
    init(_ path: String, _ text: String) throws(SettingsError) {
        self.init()
        try apply(SettingsTable(file: path, text: text), isSystem: path == Self.systemFile)
    }

    /// Returns who may read a new file: everybody if it is the system's, because everybody's commands read that.
    static func readers(of path: String) -> SettingsText.Readers { path == systemFile ? .everybody : .owner }
}

/// An option for a plugin: `plugin.NAME.OPTION`, in the table `[plugin.NAME]`.
public struct PluginOption: Sendable {
    /// The plugin's name.
    public let plugin: String
    /// The option's name.
    public let name: String

    /// Parses a key; nil if it isn't one of a plugin's.
    public init?(_ key: String) {
        let parts = key.pieces(between: ".", omittingEmpty: false).map(String.init)
        guard parts.count == 3, parts[0] == "plugin",
            parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { $0.isAlphanumeric || "-_".utf8.contains($0) } })
        else { return nil }
        (plugin, name) = (parts[1], parts[2])
    }

    /// The name of the table.
    var table: String { "plugin.\(plugin)" }
}

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
        try replace(with: TableKeys(file: file.path, text: start).setting(key, to: value.inTOML))
    }

    /// Names the keyring that is used, in the table `[keyring]`.
    ///
    /// - Throws: `SettingsError` if the file can't be changed, or has changed since it was read.
    public func set(_ kind: Configuration.KeyringKind, schema: String?) throws(SettingsError) {
        let start = file.text ?? schema.map { "#:schema \($0)\n" } ?? ""
        let keys = try TableKeys(of: "keyring", file: file.path, text: start)
        try replace(with: keys.setting("kind", to: kind.rawValue.inTOML))
    }

    /// Sets an option for a plugin, in the table `[plugin.NAME]`.
    ///
    /// - Throws: `SettingsError` if the file can't be changed, or has changed since it was read.
    public func set(_ option: PluginOption, to value: String, schema: String?) throws(SettingsError) {
        let start = file.text ?? schema.map { "#:schema \($0)\n" } ?? ""
        let keys = try TableKeys(of: option.table, file: file.path, text: start)
        try replace(with: keys.setting(option.name, to: value.inTOML))
    }

    /// Removes an option for a plugin; false if the file doesn't have it.
    ///
    /// - Throws: `SettingsError` if the file can't be changed, or has changed since it was read.
    public func unset(_ option: PluginOption) throws(SettingsError) -> Bool {
        try remove(option.name, from: option.table)
    }

    /// Removes a key, with anything after it on its line; false if the file doesn't have it.
    ///
    /// - Throws: `SettingsError` if the file can't be changed, or has changed since it was read.
    public func unset(_ key: String) throws(SettingsError) -> Bool { try remove(key, from: nil) }

    private func remove(_ key: String, from table: String?) throws(SettingsError) -> Bool {
        guard let changed = try TableKeys(of: table, file: file.path, text: text).removing(key) else { return false }
        try replace(with: changed)
        return true
    }

    private func replace(with changed: String) throws(SettingsError) {
        try file.replace(with: changed, for: Configuration.readers(of: file.path))
    }
}
