import Files
import Glibc
import JSON
import Rules
import Secrets
import SettingsFile
import Terminal

/// A file that says what lanyard wrote into others' settings, so that it takes back that and nothing else.
///
/// The user's is with what else lanyard remembers for them, everybody's beside the system's configuration. It is replaced
/// whole, under the lock of its folder.
struct RecordFile: Sendable {
    let path: String
    private let name: String
    private let folder: String
    private let isSystem: Bool
    /// Whose settings it is about, for people.
    private let subject: String
    private let context: CommandContext
    private static let longest = 1 << 20
    /// How long to wait for another lanyard, which may have another program write several values.
    private static let patience = Duration.seconds(30)

    /// A record of a name; a missing file is an empty one.
    ///
    /// - Throws: `Failure` if the environment has no place for it.
    init(_ name: String, of subject: String, isSystem: Bool = false, _ context: CommandContext) throws(Failure) {
        let own = isSystem ? FileTrust.parent(of: Configuration.systemFile) : context.environment.stateFolder
        guard let own else {
            throw Failure(
                "there is no folder to record the changes in", hints: ["set HOME or XDG_STATE_HOME"])
        }
        self.name = name
        self.subject = subject
        self.isSystem = isSystem
        self.context = context
        folder = own
        path = "\(own)/\(name)"
    }

    /// What is recorded, each change read by the caller.
    ///
    /// - Throws: `Failure` also if the caller can't read one.
    func changes<Change>(_ read: (JSONValue) -> Change?) throws(Failure) -> [Change] {
        do throws(FileProblem) {
            let file = try OpenFile(path)
            let status = try file.status()
            guard status.isRegular else { throw .irregular }
            // Whoever can write it says which values are taken out of which files.
            guard status.isOwn || status.owner == 0 else { throw .foreign }
            guard !status.grants(0o022) else { throw .exposed }
            let text = JSONValue(bytes: try file.contents(atMost: Self.longest))
            if let changes = text?["changes"]?.elements {
                let known = changes.compactMap(read)
                if known.count == changes.count { return known }
            }
        } catch {
            guard error.isMissing else { throw unusable(error) }
            return []
        }
        throw Failure(
            "\(context.short(path)) is not the record that lanyard wrote",
            hints: [Hint("remove lanyard from \(subject) by hand, then", run: "rm\(last: path)")])
    }

    /// Refuses a record that can't be kept, before anybody is asked anything.
    func requireWritable() throws(Failure) {
        do throws(SettingsError) {
            try SettingsText(reading: path).requireReplaceable()
        } catch {
            throw Failure(error, isSystem: isSystem, context)
        }
    }

    /// The record while no other lanyard changes it, nor what it is about.
    func locked() throws(Failure) -> LockedRecordFile {
        // Everybody is to read what is beside the system's record.
        Folder.make(folder, permissions: isSystem ? 0o755 : 0o700)
        let folder = try opened()
        // A file system that can't lock folders, such as NFS, lets everybody go on.
        guard (try? folder.lock(within: Self.patience)) ?? true else {
            throw Failure("another lanyard is changing \(subject)", hints: ["try again"])
        }
        return LockedRecordFile(self, folder)
    }

    private func opened() throws(Failure) -> Folder {
        do throws(FileProblem) { return try Folder(folder) } catch { throw unusable(error) }
    }

    fileprivate func write(_ changes: [JSONValue], in folder: borrowing Folder) throws(Failure) {
        guard !changes.isEmpty else { return folder.remove(name) }
        do throws(FileProblem) {
            Draft.removeStale(in: folder)
            let draft = try Draft(in: folder)
            if isSystem { draft.setPermissions(0o644) }
            try draft.write(JSONValue.object(["changes": .array(changes)]).encoded(pretty: true) + [0x0A])
            try draft.flush()
            try draft.place(as: name)
        } catch {
            throw unusable(error)
        }
    }

    private func unusable(_ problem: FileProblem) -> Failure {
        let hint = Hint("see who owns it", run: "ls -ld\(last: folder)\(last: path)")
        return Failure(
            "\(context.short(path)) cannot be used: \(problem.reason)",
            hints: [isSystem && problem.lacksPermission ? context.asRoot : hint])
    }
}

/// A record that nobody else changes as long as this value lives.
struct LockedRecordFile: ~Copyable {
    private let record: RecordFile
    private let folder: Folder

    fileprivate init(_ record: RecordFile, _ folder: consuming Folder) {
        self.record = record
        self.folder = folder
    }

    /// Puts other changes in place of all.
    func write(_ changes: [JSONValue]) throws(Failure) { try record.write(changes, in: folder) }
}
