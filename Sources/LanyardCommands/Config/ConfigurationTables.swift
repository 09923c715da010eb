import ArgumentParser
import Rules
import SettingsFile
import Terminal
import Tools

/// Selects whose configuration a command changes.
struct ScopeOptions: ParsableArguments {
    @Flag(help: "For all users of this machine, in /etc/lanyard/config.toml.")
    var system = false

    var scope: Session.Scope { system ? .system : .user }
}

/// The tables of the file that a command changes: rules, identities and forwards.
struct ConfigurationTables: Sendable {
    let context: CommandContext
    let scope: Session.Scope
    let configuration: Configuration

    /// The file that the tables are written to and taken from.
    var file: String { scope == .system ? Configuration.systemFile : context.userFile }

    /// Does something to the file's tables of a kind.
    ///
    /// - Throws: `Failure` also if the system's policy locks the user's.
    func changing<Table: ConfigurationTable, Result>(
        _ change: (TableFile<Table>) throws(SettingsError) -> Result
    ) throws(Failure) -> Result {
        guard scope == .system || !configuration.isLocked(Table.key) else { throw .locked("\(Table.plural) are") }
        guard scope == .system || Configuration.userFile(environment: context.environment) != nil else {
            throw Failure("\(file): there is no place for it", hints: ["set HOME or LANYARD_CONFIG"])
        }
        do throws(SettingsError) {
            return try change(try TableFile(reading: file))
        } catch {
            throw Failure(error, isSystem: scope == .system, context)
        }
    }

    /// Looks for a table before another one like it is made, and refuses a file that can't be written.
    func table<Table: ConfigurationTable>(where isLikeIt: (Table) -> Bool) throws(Failure) -> Table? {
        try changing { (file: TableFile<Table>) throws(SettingsError) in
            try file.requireWritable()
            return file.tables.first(where: isLikeIt)
        }
    }

    /// Adds a table to the file, unless there is one like it.
    ///
    /// - Returns: the one that is there already.
    func add<Table: ConfigurationTable>(_ table: Table, unless isLikeIt: (Table) -> Bool) throws(Failure) -> Table? {
        try changing { (file: TableFile<Table>) throws(SettingsError) in
            if let other = file.tables.first(where: isLikeIt) { return other }
            try file.add(table, schema: InstalledFiles(context).schema)
            return nil
        }
    }

    /// Removes a table from the file.
    ///
    /// - Returns: Whether there was one.
    func removeTable<Table: ConfigurationTable>(where isIt: (Table) -> Bool) throws(Failure) -> Bool {
        try changing { (file: TableFile<Table>) throws(SettingsError) in
            guard let table = file.tables.first(where: isIt) else { return false }
            try file.remove(table)
            return true
        }
    }
}

extension ConfigurationTable {
    /// Returns `FILE:LINE` for people; `built in` if the identity has no table.
    func place(_ context: CommandContext) -> String {
        file.isEmpty ? "built in" : context.short(file) + (line.map { ":\($0)" } ?? "")
    }
}

extension Failure {
    /// A file that can't be changed; with the command line as root if the system's lacks only the permission.
    init(_ error: SettingsError, isSystem: Bool, _ context: CommandContext) {
        self = isSystem && error.lacksPermission ? Failure(error.description, hints: [context.asRoot]) : Failure(error)
    }

    /// What the system's policy keeps the user from changing.
    static func locked(_ subject: String) -> Failure {
        Failure(
            "\(subject) locked by \(Configuration.systemFile)", hints: ["ask the administrator of this machine"])
    }

    /// A table that is not in the file; one of that name may be in the system's.
    init<Table: ConfigurationTable>(
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
}
