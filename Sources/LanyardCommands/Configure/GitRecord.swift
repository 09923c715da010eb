import Glibc
import JSON

/// What `configure git` wrote into git's files, so that `unconfigure git` takes back that and nothing else.
struct GitRecord: Sendable {
    /// A change, and the file that has it.
    struct Entry: Sendable, Hashable {
        let change: GitChange
        /// Nil while it is being written: it is in the scope's own file then, if anywhere.
        var file: String?
        /// Whether there was no such file before.
        var isNew = false

        /// Whether this is what a file says there.
        func isOf(_ entry: GitConfiguration.Entry) -> Bool {
            (file == nil || file == entry.file.absolute) && change.stands(as: entry)
        }
    }

    let file: RecordFile
    private let scope: GitConfiguration.Scope
    private let git: GitConfiguration

    /// The record of a scope; a missing file is an empty one.
    ///
    /// - Throws: `Failure` if the environment has no place for it.
    init(_ scope: GitConfiguration.Scope, _ context: CommandContext) throws(Failure) {
        self.scope = scope
        git = GitConfiguration(context)
        file = try RecordFile(
            "git-changes.json", of: "git's configuration", isSystem: scope == .system, context)
    }

    /// What was written, as far as nobody has taken it back.
    func entries() throws(Failure) -> [Entry] { try file.changes(Entry.init) }

    /// Those of the entries that are still in their files; of equal values in a file each is one entry's.
    func standing(_ entries: [Entry]) async throws(Failure) -> [Entry] {
        var values: [String?: [GitConfiguration.Entry]] = [:]
        for file in Set(entries.map(\.file)) { values[file] = try await self.values(of: file) }
        return entries.compactMap { entry in
            guard let index = values[entry.file]?.lastIndex(where: entry.change.stands),
                let found = values[entry.file]?.remove(at: index)
            else { return nil }
            return Entry(change: entry.change, file: found.file.absolute, isNew: entry.isNew)
        }
    }

    /// What a file sets, or the scope's own.
    func values(of file: String?) async throws(Failure) -> [GitConfiguration.Entry] {
        guard let file else { return try await git.ownEntries(of: scope) }
        return try await git.entries(of: file)
    }
}

extension LockedRecordFile {
    /// Puts other entries in place of all.
    func write(_ entries: [GitRecord.Entry]) throws(Failure) { try write(entries.map(\.json)) }
}

extension GitRecord.Entry {
    fileprivate init?(_ json: JSONValue) {
        guard let place = json["place"]?.string, let variable = json["variable"]?.string,
            ["helper", "useHttpPath"].contains(variable), let value = json["value"]?.string
        else { return nil }
        self.init(
            change: GitChange(variable, value, at: place), file: json["file"]?.string,
            isNew: json["new"] == .bool(true))
    }

    fileprivate var json: JSONValue {
        [
            "file": JSONValue(file), "place": .string(change.place),
            "variable": .string(change.variable), "value": .string(change.value), "new": .bool(isNew),
        ]
    }
}

extension String {
    /// A path that a program told, from the root on.
    fileprivate var absolute: String {
        guard !hasPrefix("/"), let folder = getcwd(nil, 0) else { return self }
        defer { free(folder) }
        return "\(String(cString: folder))/\(self)"
    }
}
