public import SettingsFile

/// A configuration file whose `[[rule]]` tables are added and removed one by one, while the rest stays as it is.
public struct RuleFile: Sendable {
    /// The rules that the file has, in order.
    public let rules: [Rule]

    private let file: SettingsText
    private let blocks: TableBlocks
    private var text: String { file.text ?? "" }
    private var readers: SettingsText.Readers { Configuration.readers(of: file.path) }

    /// Reads a file; a missing one has no rules.
    ///
    /// - Throws: `SettingsError` if the file is wrong.
    public init(reading path: String) throws(SettingsError) {
        file = try SettingsText(reading: path)
        blocks = try TableBlocks(of: "rule", file: path, text: file.text ?? "")
        rules = try Configuration(path, file.text ?? "").rules
    }

    /// The rule whose `url` means the same URLs.
    public func rule(for pattern: URLPattern) -> Rule? {
        rules.first { $0.pattern.means(pattern) }
    }

    /// Refuses a file that can't be written, before anybody is asked what to write.
    ///
    /// - Throws: `SettingsError` that says why.
    public func requireWritable() throws(SettingsError) {
        try file.requireReplaceable()
    }

    /// Adds a rule at the end of the file, which is made if it is missing.
    ///
    /// - Parameters:
    ///   - rule: the rule.
    ///   - schema: where the schema of the configuration is, for the first line of a file that is made.
    /// - Throws: `SettingsError` if the file can't be changed, or no longer is what was read.
    public func add(_ rule: Rule, schema: String?) throws(SettingsError) {
        let start = file.text == nil ? schema.map { "#:schema \($0)\n" } ?? "" : text
        let opened = try TableBlocks(of: "rule", file: file.path, text: start)
        let changed = opened.appending(rule.toml)
        let after = try Configuration(file.path, changed).rules
        guard try isOnlyRules(changed), after.count == rules.count + 1, after.dropLast().elementsEqual(rules, by: ==),
            after.last?.anywhere == rule.anywhere
        else { throw unsure("add this by hand:\n\(rule.toml)") }
        try file.replace(with: changed, for: readers)
    }

    /// Takes a rule out of the file.
    ///
    /// - Throws: `SettingsError` if the file can't be changed so that nothing else changes.
    public func remove(_ rule: Rule) throws(SettingsError) {
        let hint = "remove the rule at \(file.path)\(rule.line.map { ":\($0)" } ?? "") by hand"
        guard let index = rules.firstIndex(of: rule), blocks.lines.count == rules.count else { throw unsure(hint) }
        let changed = blocks.removing(index)
        var expected = rules
        expected.remove(at: index)
        let after = try Configuration(file.path, changed).rules
        guard try isOnlyRules(changed), after.map(\.anywhere) == expected.map(\.anywhere) else {
            throw unsure(hint)
        }
        try file.replace(with: changed, for: readers)
    }

    private func unsure(_ hint: String) -> SettingsError {
        SettingsError(
            file: file.path, line: nil, message: "cannot be changed automatically: its rules are not [[rule]] tables",
            hint: hint)
    }

    /// Whether a changed text says the same but for its rules.
    private func isOnlyRules(_ changed: String) throws(SettingsError) -> Bool {
        var before = try Configuration(file.path, text)
        var after = try Configuration(file.path, changed)
        before.rules = []
        after.rules = []
        return before == after
    }

}

extension Configuration {
    /// What one file says by itself.
    init(_ path: String, _ text: String) throws(SettingsError) {
        self.init()
        try apply(SettingsTable(file: path, text: text), isSystem: path == Self.systemFile)
    }

    /// For whom a file is made: what everybody's commands read, everybody must be able to.
    static func readers(of path: String) -> SettingsText.Readers { path == systemFile ? .everybody : .owner }
}

extension Rule {
    /// The rule wherever it stands.
    var anywhere: Rule {
        var rule = self
        rule.file = ""
        rule.line = nil
        return rule
    }
}
