import Addresses
package import Files
import Glibc
import Terminal

/// The text of a settings file, read to be changed and replaced as a whole.
public struct SettingsText: Sendable {
    /// The path that the user knows.
    public let path: String
    /// The text that was read; nil if there is no such file.
    public let text: String?

    /// Who may read a new file; the raw value is its permissions.
    public enum Readers: UInt32, Sendable {
        /// Only its owner.
        case owner = 0o600
        /// Its owner, who runs it; a file that is there already becomes a program, too.
        case ownerToRun = 0o700
        /// All users of the machine.
        case everybody = 0o644

        fileprivate var folder: mode_t { self == .everybody ? 0o755 : 0o700 }
    }

    private static let longest = 1 << 20
    private static let patience = Duration.seconds(5)

    /// Reads a file; a missing one is no error.
    ///
    /// - Throws: `SettingsError` if it can't be read, or isn't text.
    public init(reading path: String) throws(SettingsError) {
        self.path = path
        text = try Self.read(path)
    }

    /// Replaces the text atomically.
    ///
    /// A symbolic link stays, and its target is replaced; the owner and permissions stay, too. A new file, and the
    /// folders that are created for it, can only be accessed by its readers; they belong to the owner of the existing
    /// folder around them.
    ///
    /// - Throws: `SettingsError` if it can't be written, or has changed since it was read.
    public func replace(with new: String, for readers: Readers = .owner) throws(SettingsError) {
        let target = Self.target(of: path)
        let around = FileTrust.parent(of: target)
        Folder.make(around, permissions: readers.folder, heir: Self.heir)
        let folder = try lockedFolder(around)
        defer { withExtendedLifetime(folder) {} }
        let draft = try writing { () throws(FileError) in
            try Self.draft(of: new, insteadOf: target, in: folder, for: readers)
        }
        try requireUnchanged()
        do throws(FileError) {
            try draft.place(as: Self.name(of: target))
        } catch {
            throw unwritable(error)
        }
    }

    /// Removes the file that was read; of a symbolic link, the target.
    ///
    /// - Throws: `SettingsError` if it can't be removed, or has changed since it was read.
    public func remove() throws(SettingsError) {
        let target = Self.target(of: path)
        let folder = try lockedFolder(FileTrust.parent(of: target))
        try requireUnchanged()
        folder.remove(Self.name(of: target))
    }

    /// Locks the folder, so that others who edit with this code can't change its contents.
    ///
    /// They wait, and then find that the file has changed. On a file system that can't lock folders, such as NFS,
    /// nobody waits.
    private func lockedFolder(_ path: String) throws(SettingsError) -> Folder {
        let folder = try writing { () throws(FileError) in try Folder(path) }
        guard (try? folder.lock(within: Self.patience)) ?? true else {
            throw SettingsError(
                file: self.path, line: nil, message: "is being edited by another lanyard", hint: "try again")
        }
        return folder
    }

    private func requireUnchanged() throws(SettingsError) {
        guard try Self.read(path) == text else {
            throw SettingsError(file: path, line: nil, message: "changed while it was edited", hint: "try again")
        }
    }

    private static func name(of path: String) -> String { path.pieces(between: "/").last.map(String.init) ?? "" }

    /// Checks that `replace` could write the file, before the user is asked what to write.
    ///
    /// - Throws: `SettingsError` if it can't be written.
    public func requireReplaceable() throws(SettingsError) {
        var folder = FileTrust.parent(of: Self.target(of: path))
        while access(folder, F_OK) != 0, errno == ENOENT, folder != "/", folder != "." {
            folder = FileTrust.parent(of: folder)
        }
        guard access(folder, R_OK | W_OK | X_OK) == 0 else { throw unwritable(.last) }
    }

    private func writing<Result: ~Copyable>(
        _ body: () throws(FileError) -> Result
    ) throws(SettingsError) -> Result {
        do throws(FileError) { return try body() } catch { throw unwritable(error) }
    }

    private static func draft(
        of new: String, insteadOf target: String, in folder: borrowing Folder, for readers: Readers
    ) throws(FileError) -> Draft {
        Draft.removeStale(in: folder)
        let draft = try Draft(in: folder)
        if let old = FileStatus(of: target) {
            // If the file can't keep its group, the new group must not get the old group's permissions.
            let isKept = draft.give(toOwnerOf: old)
            let kept = old.permissions & (isKept ? 0o7777 : 0o7707)
            draft.setPermissions(readers == .ownerToRun ? readers.rawValue : kept)
        } else {
            draft.setPermissions(readers.rawValue)
            if let heir = heir(of: FileTrust.parent(of: target)) { draft.give(toOwnerOf: heir) }
        }
        try draft.write(Array(new.utf8))
        try draft.flush()
        return draft
    }

    private func unwritable(_ problem: FileError) -> SettingsError {
        SettingsError(
            file: path, line: nil, message: "cannot be written: \(problem.reason.lowercased())",
            hint: "make it writable, or change it by hand", lacksPermission: problem.lacksPermission)
    }

    /// What is in a file; nil if there is none.
    ///
    /// - Throws: `SettingsError` if it can't be read, is no text, or `check` refuses it.
    package static func read(
        _ path: String, check: (FileStatus) throws(SettingsError) -> Void = { _ in }
    ) throws(SettingsError) -> String? {
        do {
            let file = try OpenFile(path)
            try check(try file.status())
            if let text = String(validating: try file.contents(atMost: longest), as: UTF8.self) { return text }
        } catch let error as SettingsError {
            throw error
        } catch let problem as FileError where problem.isMissing {
            return nil
        } catch let problem as FileError where problem != .tooLong {
            throw SettingsError(
                file: path, line: nil, message: "cannot be read: \(problem.reason.lowercased())",
                hint: "check its permissions")
        } catch {}
        throw SettingsError(file: path, line: nil, message: "too long, or not UTF-8")
    }

    /// Returns the target of a path, following each link, so that a link to a file that doesn't exist yet leads there,
    /// too.
    public static func target(of path: String) -> String {
        var current = path
        for _ in 0..<40 {
            guard let next = FileStatus.linkTarget(of: current) else { break }
            current = next.hasPrefix("/") ? next : "\(FileTrust.parent(of: current))/\(next)"
        }
        return current
    }

    /// Returns the owner for files that root creates in a user's folder, as under sudo; otherwise the user couldn't use
    /// them.
    private static func heir(of folder: String) -> FileStatus? {
        guard geteuid() == 0, let status = FileStatus(of: folder), status.owner != 0 else { return nil }
        return status
    }
}
