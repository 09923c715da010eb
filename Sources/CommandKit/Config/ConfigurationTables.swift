import ArgumentParser
package import Model
package import Rules
import Secrets
package import SettingsFile
package import Terminal
import Tools

/// Selects whose configuration a command changes.
package struct ScopeOptions: ParsableArguments {
    @Flag(help: "For all users of this machine, in /etc/lanyard/config.toml.")
    package var system = false

    package var scope: Session.Scope { system ? .system : .user }

    package init() {}
}

/// The tables of the file that a command changes: rules, identities and forwards.
package struct ConfigurationTables: Sendable {
    package let context: CommandContext
    package let scope: Session.Scope
    package let configuration: Configuration

    /// The file that the tables are written to and taken from.
    package var file: String { scope == .system ? Configuration.systemFile : context.userFile }

    /// Does something to the file's tables of a kind.
    ///
    /// - Throws: `CommandError` also if the system's policy locks the user's.
    package func changing<Table: ConfigurationTable, Result>(
        _ change: (TableFile<Table>) throws(SettingsError) -> Result
    ) throws(CommandError) -> Result {
        guard scope == .system || !configuration.isLocked(Table.key) else { throw .locked("\(Table.plural) are") }
        guard scope == .system || Configuration.userFile(environment: context.environment) != nil else {
            throw CommandError("\(file): there is no place for it", hints: ["set HOME or LANYARD_CONFIG"])
        }
        do throws(SettingsError) {
            return try change(try TableFile(reading: file))
        } catch {
            throw CommandError(error, isSystem: scope == .system, context)
        }
    }

    /// Looks for a table before another one like it is made, and refuses a file that can't be written.
    package func table<Table: ConfigurationTable>(where isLikeIt: (Table) -> Bool) throws(CommandError) -> Table? {
        try changing { (file: TableFile<Table>) throws(SettingsError) in
            try file.requireWritable()
            return file.tables.first(where: isLikeIt)
        }
    }

    /// Adds a table to the file, unless there is one like it.
    ///
    /// - Returns: the one that is there already.
    package func add<Table: ConfigurationTable>(_ table: Table, unless isLikeIt: (Table) -> Bool) throws(CommandError)
        -> Table?
    {
        try changing { (file: TableFile<Table>) throws(SettingsError) in
            if let other = file.tables.first(where: isLikeIt) { return other }
            try file.add(table, schema: InstalledFiles(context).schema)
            return nil
        }
    }

    /// Removes a table from the file.
    ///
    /// - Returns: Whether there was one.
    package func removeTable<Table: ConfigurationTable>(where isIt: (Table) -> Bool) throws(CommandError) -> Bool {
        try changing { (file: TableFile<Table>) throws(SettingsError) in
            guard let table = file.tables.first(where: isIt) else { return false }
            try file.remove(table)
            return true
        }
    }

    /// Returns the same identity if the file has it; throws if one couldn't be written.
    ///
    /// - Throws: `CommandError` also if there already is another one with the name.
    package func same(_ identity: Identity) throws(CommandError) -> Identity? {
        guard !Identity.builtIn.contains(where: { $0.name == identity.name }) else {
            throw CommandError(
                "the identity \(identity.name) is built in", hints: ["choose another name, or use it as it is"],
                status: .usage)
        }
        guard let other: Identity = try table(where: { $0.name == identity.name }) else { return nil }
        guard other.toml == identity.toml else { throw conflict(with: other) }
        return other
    }

    /// Adds an identity to the file, unless it already has one with the name.
    package func write(_ identity: Identity) throws(CommandError) {
        if let other = try add(identity, unless: { $0.name == identity.name }) { throw conflict(with: other) }
    }

    private func conflict(with other: Identity) -> CommandError {
        CommandError(
            "there is an identity \(other.name) already, at \(other.place(context))",
            hints: [
                Hint(
                    "change it there, or remove it first",
                    run: "lanyard identity remove\(flag: "--system", if: scope == .system) \(other.name)")
            ])
    }

    /// Throws if a rule couldn't be written, before the user is asked anything.
    ///
    /// - Throws: `CommandError` also if the file has a rule for the same URLs.
    package func requireRoom(for pattern: URLPattern) throws(CommandError) {
        if let other: Rule = try table(where: { $0.pattern.means(pattern) }) { throw conflict(with: other) }
    }

    /// Adds a rule to the file, unless it has one for the same URLs that isn't to be replaced.
    package func write(_ rule: Rule, replacing isReplaced: Bool = false) throws(CommandError) {
        if isReplaced { _ = try removeTable { (old: Rule) in old.pattern.means(rule.pattern) } }
        if let other = try add(rule, unless: { $0.pattern.means(rule.pattern) }) { throw conflict(with: other) }
    }

    /// Returns the command that removes a rule in the file.
    package func removal(of rule: Rule) -> ShellCommand {
        "lanyard rule remove\(flag: "--system", if: scope == .system) \(rule.pattern.text)"
    }

    /// Returns a hint to remove a request's rule and add it again; nil if there is no rule, or if it is in another
    /// file.
    func remaking(ruleOf request: TokenRequest) -> Hint? {
        guard case .rule(let pattern) = request.origin,
            let rule = configuration.rules.first(where: { $0.pattern.text == pattern }), rule.file == file
        else { return nil }
        return Hint("to replace the rule, remove it", run: removal(of: rule))
    }

    private func conflict(with other: Rule) -> CommandError {
        CommandError(
            conflictWith: other, context, hint: Hint("change it there, or remove it first", run: removal(of: other)))
    }
}

extension ConfigurationTable {
    /// Returns `FILE:LINE` for users; `built in` if the identity has no table.
    package func place(_ context: CommandContext) -> String {
        file.isEmpty ? "built in" : context.short(file) + (line.map { ":\($0)" } ?? "")
    }
}

extension CommandError {
    /// A file that can't be changed; with the command line as root if the system's lacks only the permission.
    package init(_ error: SettingsError, isSystem: Bool, _ context: CommandContext) {
        self =
            isSystem && error.lacksPermission
            ? CommandError(error.inFile, hints: [context.asRoot]) : CommandError(error)
    }

    /// What the system's policy keeps the user from changing.
    package static func locked(_ subject: String) -> CommandError {
        CommandError(
            "\(subject) locked by \(Configuration.systemFile)", hints: ["ask the administrator of this machine"])
    }

    /// A table that is not in the file; one of that name may be in the system's.
    package init<Table: ConfigurationTable>(
        missing what: String, _ session: Session, elsewhere other: Table?, name: KeyPath<Table, String>
    ) {
        let hint = other.map { other in
            Hint(
                "there is one for all users at \(other.place(session.context))",
                run: "sudo lanyard \(Table.key) remove --system \(other[keyPath: name])")
        }
        self.init(
            "there is no \(what) in \(session.context.short(session.tables.file))",
            hints: [hint ?? Hint("see which there are", run: "lanyard \(Table.key) list")])
    }

    /// Creates the error for an existing rule where a new one was requested.
    package init(conflictWith other: Rule, _ context: CommandContext, hint: Hint) {
        self.init("there is a rule for \(other.pattern.text) already, at \(other.place(context))", hints: [hint])
    }
}
