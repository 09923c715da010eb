import Files
import Glibc
package import JSON
import Rules
import Secrets
import SettingsFile
package import Terminal

/// A file that records what lanyard wrote into other programs' settings, so that it can undo that and nothing else.
///
/// The user's record is in lanyard's state folder, the system's beside the system configuration. It is replaced as a
/// whole, under the lock of its folder.
package struct RecordFile: Sendable {
    package var path: String { "\(folder)/\(name)" }
    private let name: String
    private let folder: String
    private let isSystem: Bool
    /// The settings that it is about, for users.
    private let subject: String
    private let context: CommandContext
    private static let longest = 1 << 20
    /// The time limit for another lanyard, which may be running a program that writes several values.
    private static let patience = Duration.seconds(30)

    /// Creates a record with a name; a missing file is an empty record.
    ///
    /// - Throws: `CommandError` if the environment has no place for it.
    package init(_ name: String, of subject: String, isSystem: Bool = false, _ context: CommandContext)
        throws(CommandError)
    {
        let own = isSystem ? FileTrust.parent(of: Configuration.systemFile) : context.environment.stateFolder
        guard let own else {
            throw CommandError(
                "there is no folder to record the changes in", hints: ["set HOME or XDG_STATE_HOME"])
        }
        self.name = name
        self.subject = subject
        self.isSystem = isSystem
        self.context = context
        folder = own
    }

    /// Returns the recorded changes as they are in the file.
    package func changes() throws(CommandError) -> [JSONValue] {
        do throws(FileError) {
            let file = try OpenFile(path)
            let status = try file.status()
            guard status.isRegular else { throw .irregular }
            // Whoever can write the record decides which values are removed from which files.
            guard status.isOwn || status.owner == 0 else { throw .foreign }
            guard !status.grants(0o022) else { throw .exposed }
            let text = JSONValue(bytes: try file.contents(atMost: Self.longest))
            if case .array(let changes) = text?["changes"] { return changes }
        } catch {
            guard error.isMissing else { throw unusable(error) }
            return []
        }
        throw foreign
    }

    /// The error for a record that no lanyard wrote.
    package var foreign: CommandError {
        CommandError(
            "\(context.short(path)) is not the record that lanyard wrote",
            hints: [Hint("remove lanyard from \(subject) by hand, then", run: "rm\(last: path)")])
    }

    /// The error for changes that only a later lanyard can undo.
    package func unknown(_ command: String) -> CommandError {
        CommandError(
            "\(context.short(path)) has changes to \(command) that this version of lanyard doesn't know",
            hints: [Hint("undo them with the later version that made them", run: "lanyard unconfigure \(command)")])
    }

    /// Throws if the record can't be written, before the user is asked anything.
    package func requireWritable() throws(CommandError) {
        do throws(SettingsError) {
            try SettingsText(reading: path).requireReplaceable()
        } catch {
            throw CommandError(error, isSystem: isSystem, context)
        }
    }

    /// Locks the record, so that no other lanyard changes it or the settings that it is about.
    package func locked() throws(CommandError) -> LockedRecordFile {
        // Everybody is to read what is beside the system's record.
        Folder.make(folder, permissions: isSystem ? 0o755 : 0o700)
        let folder = try opened()
        // On a file system that can't lock folders, such as NFS, nothing is locked.
        guard (try? folder.lock(within: Self.patience)) ?? true else {
            throw CommandError("another lanyard is changing \(subject)", hints: ["try again"])
        }
        return LockedRecordFile(record: self, folder: folder)
    }

    private func opened() throws(CommandError) -> Folder {
        do throws(FileError) { return try Folder(folder) } catch { throw unusable(error) }
    }

    fileprivate func write(_ changes: [JSONValue], in folder: borrowing Folder) throws(CommandError) {
        guard !changes.isEmpty else { return folder.remove(name) }
        do throws(FileError) {
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

    private func unusable(_ problem: FileError) -> CommandError {
        let hint = problem.hint("ls -ld\(last: folder)\(last: path)", in: folder)
        return CommandError(
            "\(context.short(path)) cannot be used: \(problem.reason)",
            hints: [isSystem && problem.lacksPermission ? context.asRoot : hint])
    }
}

/// A record that no other process changes while this value exists.
package struct LockedRecordFile: ~Copyable {
    fileprivate let record: RecordFile
    fileprivate let folder: Folder

    /// Replaces all changes, but for those that are to be kept; what others have added to a change stays.
    package func write(_ changes: [JSONValue], keeping isKept: (JSONValue) -> Bool) throws(CommandError) {
        let old = try record.changes()
        let new = changes.map { change in old.first { $0.merging(change) == $0 } ?? change }
        try record.write(old.filter(isKept) + new, in: folder)
    }
}
