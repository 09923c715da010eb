import Addresses
import CommandKit
import Files
import JSON
import Terminal

/// The record of what `configure git` wrote into git's files, so that `unconfigure git` removes that and nothing else.
struct GitRecord: Sendable {
    /// A change and the file that contains it.
    struct Entry: Sendable, Hashable {
        let change: GitChange
        /// The file; nil while the change is being written, when only the scope's own file can contain it.
        var file: String?
        /// Whether the file didn't exist before.
        var isNew = false

        /// Whether a file's entry is this one.
        func isOf(_ entry: GitConfiguration.Entry) -> Bool {
            (file == nil || file == entry.file.absolutePath) && change.stands(as: entry)
        }
    }

    let file: RecordFile
    private let scope: GitConfiguration.Scope
    private let git: GitConfiguration

    /// Opens the record of a scope; a missing file is an empty record.
    ///
    /// - Throws: `CommandError` if the environment has no place for it.
    init(_ scope: GitConfiguration.Scope, _ context: CommandContext) throws(CommandError) {
        self.scope = scope
        git = GitConfiguration(context)
        file = try RecordFile(
            "git-changes.json", of: "git's configuration", isSystem: scope == .system, context)
    }

    /// Returns the changes that haven't been undone.
    ///
    /// - Throws: `CommandError` also if a later lanyard made some of them.
    func entries() throws(CommandError) -> [Entry] {
        let changes = try file.changes()
        let known = changes.compactMap(Entry.init)
        guard known.count == changes.count else {
            throw changes.allSatisfy { $0["place"]?.string != nil } ? file.unknown("git") : file.foreign
        }
        return known
    }

    /// Returns the entries that are still in their files; each value in a file counts for one entry only.
    func standing(_ entries: [Entry]) async throws(CommandError) -> [Entry] {
        var values: [String?: [GitConfiguration.Entry]] = [:]
        for file in Set(entries.map(\.file)) { values[file] = try await self.values(of: file) }
        return entries.compactMap { entry in
            guard let index = values[entry.file]?.lastIndex(where: entry.change.stands),
                let found = values[entry.file]?.remove(at: index)
            else { return nil }
            return Entry(change: entry.change, file: found.file.absolutePath, isNew: entry.isNew)
        }
    }

    /// Completes the record of a lanyard that was killed, and removes what it hadn't finished.
    func complete() async throws(CommandError) {
        guard try entries().contains(where: { $0.file == nil }) else { return }
        let locked = try file.locked()
        let entries = try entries()
        for place in entries.filter({ $0.file == nil }).map(\.change.place).uniqued {
            await git.removeDraft(of: place, from: scope)
        }
        try await locked.write(entries.filter { $0.file != nil } + standing(entries.filter { $0.file == nil }))
    }

    /// Removes entries that stand in their files, and leaves equal values of the user's own.
    func remove(_ entries: [Entry]) async throws(CommandError) {
        for entry in entries.uniqued {
            guard let file = entry.file else { continue }
            try await git.remove(entry.change, times: entries.count { $0 == entry }, from: file)
        }
    }

    /// Returns the values in a file; nil stands for the scope's own file.
    func values(of file: String?) async throws(CommandError) -> [GitConfiguration.Entry] {
        guard let file else { return try await git.ownEntries(of: scope) }
        return try await git.entries(of: file)
    }
}

extension LockedRecordFile {
    /// Replaces all entries.
    func write(_ entries: [GitRecord.Entry]) throws(CommandError) { try write(entries.map(\.json)) { _ in false } }
}

extension GitRecord.Entry {
    fileprivate init?(_ json: JSONValue) {
        guard let place = json["place"]?.string, let variable = json["variable"]?.string,
            ["helper", "useHttpPath"].contains(variable), let value = json["value"]?.string
        else { return nil }
        self.init(
            change: GitChange(place: place, variable: variable, value: value), file: json["file"]?.string,
            isNew: json["new"] == .bool(true))
    }

    fileprivate var json: JSONValue {
        [
            "file": JSONValue(file), "place": .string(change.place),
            "variable": .string(change.variable), "value": .string(change.value), "new": .bool(isNew),
        ]
    }
}
