public import SettingsFile

/// What a table of a configuration file says, of which there may be several.
public protocol ConfigurationTable: Sendable, Equatable {
    /// The table's key, such as `rule`.
    static var key: String { get }
    /// What such tables are called, for people.
    static var plural: String { get }
    /// Where the configuration has them.
    static var member: WritableKeyPath<Configuration, [Self]> { get }

    /// The name that no other table of the kind may have; nil if several may be alike.
    var uniqueName: String? { get }
    /// Reads a table.
    ///
    /// - Throws: `SettingsError` if a key is unknown, missing or wrong.
    init(_ table: SettingsTable) throws(SettingsError)

    /// The table as text, with its header.
    var toml: String { get }
    /// The file that holds it; empty for one that is yet to be written.
    var file: String { get set }
    /// The line that it begins at, from 1.
    var line: Int? { get set }
}

extension ConfigurationTable {
    /// The table wherever it stands.
    var anywhere: Self {
        var table = self
        table.file = ""
        table.line = nil
        return table
    }
}

/// A configuration file whose `[[rule]]` tables are added and removed one by one, while the rest stays as it is.
public typealias RuleFile = TableFile<Rule>

extension TableFile<Rule> {
    /// The rule whose `url` means the same URLs.
    public func rule(for pattern: URLPattern) -> Rule? { tables.first { $0.pattern.means(pattern) } }
}

extension TableFile<Identity> {
    /// The identity of a name.
    public func identity(named name: String) -> Identity? { tables.first { $0.name == name } }
}

/// A configuration file whose tables of a kind are added and removed one by one, while the rest stays as it is.
public struct TableFile<Table: ConfigurationTable>: Sendable {
    /// The tables that the file has, in order.
    public let tables: [Table]

    private let file: SettingsText
    private let blocks: TableBlocks
    private var text: String { file.text ?? "" }
    private var readers: SettingsText.Readers { Configuration.readers(of: file.path) }

    /// Reads a file; a missing one has no tables.
    ///
    /// - Throws: `SettingsError` if the file is wrong.
    public init(reading path: String) throws(SettingsError) {
        file = try SettingsText(reading: path)
        blocks = try TableBlocks(of: Table.key, file: path, text: file.text ?? "")
        tables = try Configuration(path, file.text ?? "")[keyPath: Table.member]
    }

    /// Refuses a file that can't be written, before anybody is asked what to write.
    ///
    /// - Throws: `SettingsError` that says why.
    public func requireWritable() throws(SettingsError) {
        try file.requireReplaceable()
    }

    /// Adds a table at the end of the file, which is made if it is missing.
    ///
    /// - Parameters:
    ///   - table: what is added.
    ///   - schema: where the schema of the configuration is, for the first line of a file that is made.
    /// - Throws: `SettingsError` if the file can't be changed, or no longer is what was read.
    public func add(_ table: Table, schema: String?) throws(SettingsError) {
        let start = file.text == nil ? schema.map { "#:schema \($0)\n" } ?? "" : text
        let opened = try TableBlocks(of: Table.key, file: file.path, text: start)
        let changed = opened.appending(table.toml)
        let after = try Configuration(file.path, changed)[keyPath: Table.member]
        guard try isNothingElse(changed), after.count == tables.count + 1, after.dropLast().elementsEqual(tables),
            after.last?.anywhere == table.anywhere
        else { throw unsure("add this by hand:\n\(table.toml)") }
        try file.replace(with: changed, for: readers)
    }

    /// Takes a table out of the file.
    ///
    /// - Throws: `SettingsError` if the file can't be changed so that nothing else changes.
    public func remove(_ table: Table) throws(SettingsError) {
        try change(table, to: nil, by: "remove")
    }

    /// Puts a table in place of one that the file has.
    ///
    /// - Throws: `SettingsError` if the file can't be changed so that nothing else changes.
    public func replace(_ table: Table, with other: Table) throws(SettingsError) {
        try change(table, to: other, by: "change")
    }

    private func change(_ table: Table, to other: Table?, by verb: String) throws(SettingsError) {
        let hint = "\(verb) the \(Table.key) at \(file.path)\(table.line.map { ":\($0)" } ?? "") by hand"
        guard let index = tables.firstIndex(of: table), blocks.lines.count == tables.count else { throw unsure(hint) }
        let changed = other.map { blocks.replacing(index, with: $0.toml) } ?? blocks.removing(index)
        var expected = tables
        expected.replaceSubrange(index...index, with: [other].compactMap(\.self))
        let after = try Configuration(file.path, changed)[keyPath: Table.member]
        guard try isNothingElse(changed), after.map(\.anywhere) == expected.map(\.anywhere) else {
            throw unsure(hint)
        }
        try file.replace(with: changed, for: readers)
    }

    private func unsure(_ hint: String) -> SettingsError {
        SettingsError(
            file: file.path, line: nil,
            message: "cannot be changed automatically: its \(Table.plural) are not [[\(Table.key)]] tables", hint: hint)
    }

    /// Whether a changed text says the same but for these tables.
    private func isNothingElse(_ changed: String) throws(SettingsError) -> Bool {
        try Configuration.rest(of: changed, but: Table.key, in: file.path)
            == Configuration.rest(of: text, but: Table.key, in: file.path)
    }
}

extension Configuration {
    /// What one file says by itself.
    init(_ path: String, _ text: String) throws(SettingsError) {
        self.init()
        try apply(SettingsTable(file: path, text: text), isSystem: path == Self.systemFile)
    }

    /// What a file's text says apart from one key, or from all tables of one kind.
    ///
    /// The lines of tables don't count: what is above one may get longer or shorter.
    static func rest(of text: String, but key: String, in path: String) throws(SettingsError) -> Configuration {
        var rest = Configuration()
        // A locked key stays as it is.
        rest.lockedKeys = [key]
        try rest.apply(SettingsTable(file: path, text: text), isSystem: path == systemFile)
        rest.lockedKeys = try Configuration(path, text).lockedKeys
        rest.rules = rest.rules.map(\.anywhere)
        rest.identities = rest.identities.map(\.anywhere)
        rest.forwards = rest.forwards.map(\.anywhere)
        return rest
    }

    /// For whom a file is made: what everybody's commands read, everybody must be able to.
    static func readers(of path: String) -> SettingsText.Readers { path == systemFile ? .everybody : .owner }
}
