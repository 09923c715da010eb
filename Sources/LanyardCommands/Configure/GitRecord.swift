import Addresses
import Files
import Glibc
import JSON
import Rules
import Secrets
import SettingsFile
import Terminal

/// What `configure git` wrote into git's files, so that `unconfigure git` takes back that and nothing else.
///
/// The user's is with what else lanyard remembers for them, everybody's beside the system's configuration. It is replaced
/// whole, under the lock of its folder.
struct GitRecord: Sendable {
    /// A change, and the file that has it.
    struct Entry: Sendable, Hashable {
        let change: GitChange
        /// Nil while it is being written: it is in the scope's own file then, if anywhere.
        var file: String?
    }

    let path: String
    fileprivate let context: CommandContext
    private let scope: GitConfiguration.Scope
    private let folder: String
    private static let name = "git-changes.json"
    private static let longest = 1 << 20
    /// How long to wait for another lanyard, which has git write several values.
    private static let patience = Duration.seconds(30)

    /// The record of a scope; a missing file is an empty one.
    ///
    /// - Throws: `Failure` if the environment has no place for it.
    init(_ scope: GitConfiguration.Scope, _ context: CommandContext) throws(Failure) {
        let own = scope == .system ? FileTrust.parent(of: Configuration.systemFile) : context.environment.stateFolder
        guard let own else {
            throw Failure(
                "there is no place to keep a record of what is written", hints: ["set HOME or XDG_STATE_HOME"])
        }
        self.scope = scope
        self.context = context
        folder = own
        path = "\(own)/\(Self.name)"
    }

    /// What was written, as far as nobody has taken it back.
    func entries() throws(Failure) -> [Entry] {
        do throws(FileProblem) {
            let file = try OpenFile(path)
            let status = try file.status()
            guard status.isRegular else { throw .irregular }
            // Whoever can write it says which values are taken out of which files.
            guard status.isOwn || status.owner == 0 else { throw .foreign }
            guard !status.grants(0o022) else { throw .exposed }
            let text = JSONValue(bytes: try file.contents(atMost: Self.longest))
            if let entries = text?["changes"]?.elements.map(Entry.init), !entries.contains(nil) {
                return entries.compactMap(\.self)
            }
        } catch {
            guard error.isMissing else { throw unusable(error) }
            return []
        }
        throw Failure(
            "\(context.short(path)) is not what lanyard wrote there",
            hints: [Hint("take lanyard out of git's configuration by hand, then", run: "rm\(last: path)")])
    }

    /// Those of the entries that are still in their files; of equal values in a file each is one entry's.
    func standing(_ entries: [Entry]) async throws(Failure) -> [Entry] {
        var values: [String?: [GitConfiguration.Entry]] = [:]
        for file in Set(entries.map(\.file)) { values[file] = try await self.values(of: file) }
        return entries.compactMap { entry in
            guard let index = values[entry.file]?.lastIndex(where: entry.change.stands),
                let found = values[entry.file]?.remove(at: index)
            else { return nil }
            return Entry(change: entry.change, file: found.file.absolute)
        }
    }

    /// What a file sets, or the scope's own.
    func values(of file: String?) async throws(Failure) -> [GitConfiguration.Entry] {
        guard let file else { return try await GitConfiguration(scope: scope).ownEntries() }
        return try await GitConfiguration.entries(of: file)
    }

    /// Refuses a record that can't be kept, before anybody is asked anything.
    func requireWritable() throws(Failure) {
        do throws(SettingsError) {
            try SettingsText(reading: path).requireReplaceable()
        } catch {
            guard scope == .system, error.lacksPermission else { throw Failure(error) }
            throw Failure(error.description, hints: [context.asRoot])
        }
    }

    /// The record while no other lanyard changes it, nor git's files.
    func locked() throws(Failure) -> LockedGitRecord {
        makeFolder()
        let folder = try opened()
        // A file system that can't lock folders, such as NFS, lets everybody go on.
        guard (try? folder.lock(within: Self.patience)) ?? true else {
            throw Failure("another lanyard is changing git's configuration", hints: ["try again"])
        }
        return LockedGitRecord(self, folder)
    }

    private func opened() throws(Failure) -> Folder {
        do throws(FileProblem) { return try Folder(folder) } catch { throw unusable(error) }
    }

    /// Everybody is to read what is beside the system's record.
    private func makeFolder() {
        guard scope == .system else { return Folder.make(folder) }
        guard mkdir(folder, 0o755) == 0 else { return }
        // The umask may have taken from it what everybody needs.
        let made = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard made >= 0 else { return }
        fchmod(made, 0o755)
        close(made)
    }

    fileprivate func write(_ entries: [Entry], in folder: borrowing Folder) throws(Failure) {
        guard !entries.isEmpty else { return folder.remove(Self.name) }
        do throws(FileProblem) {
            Draft.removeStale(in: folder)
            let draft = try Draft(in: folder)
            if scope == .system { draft.setPermissions(0o644) }
            try draft.write(JSONValue.object(["changes": .array(entries.map(\.json))]).encoded(pretty: true) + [0x0A])
            try draft.flush()
            try draft.place(as: Self.name)
        } catch {
            throw unusable(error)
        }
    }

    private func unusable(_ problem: FileProblem) -> Failure {
        let hint = Hint("see who owns it", run: "ls -ld\(last: folder)\(last: path)")
        return Failure(
            "\(context.short(path)) cannot be used: \(problem.reason)",
            hints: [scope == .system && problem.lacksPermission ? context.asRoot : hint])
    }
}

/// A record that nobody else changes as long as this value lives.
struct LockedGitRecord: ~Copyable {
    let record: GitRecord
    private let folder: Folder

    fileprivate init(_ record: GitRecord, _ folder: consuming Folder) {
        self.record = record
        self.folder = folder
    }

    /// Puts other entries in place of all.
    func write(_ entries: [GitRecord.Entry]) throws(Failure) { try record.write(entries, in: folder) }
}

extension GitRecord.Entry {
    fileprivate init?(_ json: JSONValue) {
        guard let place = json["place"]?.string, let variable = json["variable"]?.string,
            ["helper", "useHttpPath"].contains(variable), let value = json["value"]?.string
        else { return nil }
        self.init(change: GitChange(variable, value, at: place), file: json["file"]?.string)
    }

    fileprivate var json: JSONValue {
        [
            "file": file.map(JSONValue.string) ?? .null, "place": .string(change.place),
            "variable": .string(change.variable), "value": .string(change.value),
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
