import Addresses
import Glibc

/// A settings file's text, read to be changed and put back all at once.
public struct SettingsText: Sendable {
    /// The path as people know it.
    public let path: String
    /// What was read; nil where there is no such file.
    public let text: String?

    /// For whom a file is made that isn't there yet.
    public enum Readers: Sendable {
        /// Its owner, and nobody else.
        case owner
        /// All users of the machine.
        case everybody

        fileprivate var file: mode_t { self == .owner ? 0o600 : 0o644 }
        fileprivate var folder: mode_t { self == .owner ? 0o700 : 0o755 }
    }

    private static let longest = 1 << 20

    /// Reads a file; a missing one is no error.
    ///
    /// - Throws: `SettingsError` where it can't be read, or is no text.
    public init(reading path: String) throws(SettingsError) {
        self.path = path
        text = try Self.read(path)
    }

    /// Puts a text in place of what was read, all of it or nothing.
    ///
    /// A symbolic link stays, and what it leads to is replaced; owner and permissions stay too. A new file is for its readers
    /// only, and so are the folders made for it; they belong to whoever the folder around them belongs to.
    ///
    /// - Throws: `SettingsError` where it can't be written, or is no longer what was read.
    public func replace(with new: String, for readers: Readers = .owner) throws(SettingsError) {
        let target = Self.target(of: path)
        let folder = Self.parent(of: target)
        Self.makeFolder(folder, for: readers)
        // Whoever else edits by this code waits, and then finds that the file has changed.
        guard let lock = FolderLock(folder) else {
            throw SettingsError(file: path, line: nil, message: "is being edited by another lanyard", hint: "try again")
        }
        defer { withExtendedLifetime(lock) {} }
        let draft = "\(folder)/.\(target.pieces(between: "/").last ?? "").\(getpid())"
        try write(new, to: draft, insteadOf: target, in: folder, for: readers)
        do throws(SettingsError) {
            guard try Self.read(path) == text else {
                throw SettingsError(file: path, line: nil, message: "changed while it was edited", hint: "try again")
            }
            guard rename(draft, target) == 0 else { throw unwritable(errno) }
        } catch {
            unlink(draft)
            throw error
        }
    }

    /// Refuses what `replace` could not put in place, before anybody is asked what to put there.
    ///
    /// - Throws: `SettingsError` where it can't be written.
    public func requireReplaceable() throws(SettingsError) {
        var folder = Self.parent(of: Self.target(of: path))
        while access(folder, F_OK) != 0, errno == ENOENT, folder != "/", folder != "." {
            folder = Self.parent(of: folder)
        }
        guard access(folder, W_OK | X_OK) == 0 else { throw unwritable(errno) }
    }

    private func write(
        _ new: String, to draft: String, insteadOf target: String, in folder: String, for readers: Readers
    ) throws(SettingsError) {
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw unwritable(errno) }
        var status = stat()
        if stat(target, &status) == 0 {
            // Who is in a group that the file can't be given to may not read it for that.
            let isKept = fchown(file, status.st_uid, status.st_gid) == 0
            fchmod(file, status.st_mode & (isKept ? 0o7777 : 0o7707))
        } else {
            // Whatever the umask says.
            fchmod(file, readers.file)
            Self.give(file, toOwnerOf: folder)
        }
        let isWritten = Self.write(Array(new.utf8), to: file) && fsync(file) == 0
        let reason = errno
        close(file)
        guard isWritten else {
            unlink(draft)
            throw unwritable(reason)
        }
    }

    private func unwritable(_ reason: CInt) -> SettingsError {
        SettingsError(
            file: path, line: nil, message: "cannot be written: \(String(cString: strerror(reason)).lowercased())",
            hint: "make it writable, or change it by hand", lacksPermission: [EACCES, EPERM].contains(reason))
    }

    private static func unreadable(_ path: String) -> SettingsError {
        SettingsError(
            file: path, line: nil, message: "cannot be read: \(String(cString: strerror(errno)).lowercased())",
            hint: "check its permissions")
    }

    private static func read(_ path: String) throws(SettingsError) -> String? {
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            guard errno != ENOENT, errno != ENOTDIR else { return nil }
            throw unreadable(path)
        }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= longest {
            let count = Glibc.read(file, &chunk, chunk.count)
            guard count >= 0 else { throw unreadable(path) }
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        guard bytes.count <= longest, let text = String(validating: bytes, as: UTF8.self) else {
            throw SettingsError(file: path, line: nil, message: "too long, or not UTF-8")
        }
        return text
    }

    private static func write(_ bytes: [UInt8], to file: CInt) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// What a path leads to, link by link, so that one that leads to a file not made yet leads there too.
    private static func target(of path: String) -> String {
        var current = path
        for _ in 0..<40 {
            var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
            let count = readlink(current, &buffer, buffer.count)
            guard count > 0 else { break }
            let next = String(decoding: buffer[..<count], as: UTF8.self)
            current = next.hasPrefix("/") ? next : "\(parent(of: current))/\(next)"
        }
        return current
    }

    private static func parent(of path: String) -> String {
        guard let (parent, _) = path.cut(atLast: "/") else { return "." }
        return parent.isEmpty ? "/" : String(parent)
    }

    private static func makeFolder(_ path: String, for readers: Readers) {
        var status = stat()
        guard stat(path, &status) != 0, path != "/", path != "." else { return }
        let around = parent(of: path)
        makeFolder(around, for: readers)
        guard mkdir(path, 0o700) == 0 else { return }
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else { return }
        fchmod(folder, readers.folder)
        give(folder, toOwnerOf: around)
        close(folder)
    }

    /// Gives what root makes in somebody's folder to them, as under sudo; it would be of no use to them otherwise.
    private static func give(_ file: CInt, toOwnerOf folder: String) {
        var status = stat()
        guard geteuid() == 0, stat(folder, &status) == 0, status.st_uid != 0 else { return }
        fchown(file, status.st_uid, status.st_gid)
    }
}
