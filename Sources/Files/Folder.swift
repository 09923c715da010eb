package import Glibc

/// An open folder.
///
/// Its contents are accessed relative to it and never through a link, so a path that is replaced meanwhile can't lead
/// elsewhere.
package struct Folder: ~Copyable, Sendable {
    private let file: OpenFile
    private var descriptor: CInt { file.descriptor }

    /// Opens a folder, following links.
    package init(_ path: String) throws(FileError) {
        try self.init(path, at: AT_FDCWD)
    }

    private init(_ path: String, at parent: CInt, _ flags: CInt = 0) throws(FileError) {
        file = try OpenFile(path, at: parent, O_RDONLY | O_DIRECTORY | flags)
    }

    /// Whether the path is a folder that belongs to this user.
    package static func isOwn(_ path: String) -> Bool {
        guard let status = FileStatus(of: path) else { return false }
        return status.isFolder && status.isOwn
    }

    /// Makes a folder, and those above it that are missing; opening it tells what went wrong.
    ///
    /// - Parameters:
    ///   - path: where it is to be.
    ///   - permissions: those of each folder that is made, whatever the umask says.
    ///   - heir: who gets a folder that is made in another one; nil if it stays this user's.
    package static func make(
        _ path: String, permissions: UInt32 = 0o700, heir: (_ around: String) -> FileStatus? = { _ in nil }
    ) {
        var end = path.utf8.startIndex
        while end < path.utf8.endIndex {
            end = path.utf8[path.utf8.index(after: end)...].firstIndex(of: UInt8(ascii: "/")) ?? path.utf8.endIndex
            let folder = String(path[..<end])
            guard mkdir(folder, 0o700) == 0,
                let made = try? OpenFile(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
            else { continue }
            fchmod(made.descriptor, permissions)
            if let heir = heir(FileTrust.parent(of: folder)) { fchown(made.descriptor, heir.owner, heir.group) }
        }
    }

    /// Refuses a folder that doesn't belong to this user, or that grants others any of these permissions.
    package func requireOwn(closedTo permissions: UInt32 = 0) throws(FileError) {
        let status = try file.status()
        guard status.isOwn else { throw .foreign }
        guard !status.grants(permissions) else { throw .exposed }
    }

    /// Opens a subfolder that belongs to this user, and removes everybody else's permissions.
    package func privateFolder(_ name: String, making: Bool) throws(FileError) -> Folder {
        if making, mkdirat(descriptor, name, 0o700) != 0, errno != EEXIST { throw .last }
        let folder = try Folder(name, at: descriptor, O_NOFOLLOW)
        let status = try folder.file.status()
        guard status.isOwn else { throw .foreign }
        if status.grants(0o077), fchmod(folder.descriptor, 0o700) != 0 { throw .last }
        return folder
    }

    /// Returns the status of the entry with this name, without following links.
    package func status(of name: String) -> FileStatus? {
        var status = stat()
        return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? FileStatus(status) : nil
    }

    /// Reads a regular file that belongs to this user and grants others none of these permissions.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - limit: The longest file that is read, in bytes.
    ///   - first: How many bytes to read; nil for all.
    ///   - permissions: The permissions that others must not have.
    /// - Returns: The file's bytes.
    /// - Throws: `FileError` if it can't be read, or doesn't meet these conditions.
    package func read(
        _ name: String, atMost limit: Int, first: Int? = nil, closedTo permissions: UInt32 = 0o077
    ) throws(FileError) -> [UInt8] {
        let file = try OpenFile(name, at: descriptor, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        let status = try file.status()
        guard status.isRegular else { throw .irregular }
        guard status.isOwn else { throw .foreign }
        guard !status.grants(permissions) else { throw .exposed }
        guard status.size <= limit else { throw .tooLong }
        return try OpenFile.bytes(from: file.descriptor, atMost: first ?? status.size)
    }

    /// Reads a regular file of any owner.
    ///
    /// - Throws: `FileError` if it can't be read, is a link or another kind of file, or is longer than the limit.
    package func readForeign(_ name: String, atMost limit: Int) throws(FileError) -> [UInt8] {
        let file = try OpenFile(name, at: descriptor, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        let status = try file.status()
        guard status.isRegular else { throw .irregular }
        guard status.size <= limit else { throw .tooLong }
        return try file.contents(atMost: limit)
    }

    /// Opens a file of this user's for reading and writing, creating it if it is missing.
    package func openFile(_ name: String) throws(FileError) -> OpenFile {
        let file = try OpenFile(name, at: descriptor, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, permissions: 0o600)
        let status = try file.status()
        guard status.isRegular else { throw .irregular }
        guard status.isOwn else { throw .foreign }
        return file
    }

    /// Atomically writes a file that only this user can access, replacing any entry with this name.
    ///
    /// A link is replaced, not followed.
    ///
    /// - Parameters:
    ///   - bytes: The contents.
    ///   - name: The file's name.
    ///   - isDurable: Whether it must survive a sudden loss of power.
    /// - Throws: `FileError`; the existing entry then stays.
    package func write(_ bytes: [UInt8], to name: String, isDurable: Bool) throws(FileError) {
        let draft = try Draft(in: self)
        try draft.write(bytes)
        if isDurable { try draft.flush() }
        try draft.place(as: name)
        if isDurable { try flush() }
    }

    /// Waits until the names of its entries are on disk.
    package func flush() throws(FileError) { try asking { Int(fsync(descriptor)) } }

    /// Returns the folder's own status.
    package func status() throws(FileError) -> FileStatus { try file.status() }

    /// Creates a symbolic link, replacing any entry with this name; does nothing if the link already has this target.
    package func link(_ name: String, to target: String) throws(FileError) {
        guard FileStatus.linkTarget(of: name, in: descriptor) != target else { return }
        let draft = ".\(name).\(getpid())"
        remove(draft)
        guard symlinkat(target, descriptor, draft) == 0 else { throw .last }
        do throws(FileError) { try rename(draft, to: name) } catch {
            remove(draft)
            throw error
        }
    }

    /// Removes the entry with this name: of a link, only the link; a folder only if it is empty.
    package func remove(_ name: String) {
        guard unlinkat(descriptor, name, 0) != 0, errno == EISDIR else { return }
        unlinkat(descriptor, name, AT_REMOVEDIR)
    }

    /// Removes the entry with this name, and waits until it is gone from disk; it isn't an error if there is none.
    package func delete(_ name: String) throws(FileError) {
        guard unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else { throw .last }
        try flush()
    }

    /// Returns the names of its entries, up to a limit.
    package func names(atMost limit: Int) -> [String] {
        // A separate descriptor, because duplicates share the position that reading moves.
        let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { return [] }
        guard let stream = fdopendir(copy) else {
            close(copy)
            return []
        }
        defer { closedir(stream) }
        var names: [String] = []
        while names.count < limit, let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Waits for the folder's lock, which is held as long as this value exists; false if another holder kept it all the
    /// time.
    package func lock(within patience: Duration) throws(FileError) -> Bool { try file.lock(within: patience) }

    func newFile(_ name: String) throws(FileError) -> OpenFile {
        try OpenFile(name, at: descriptor, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, permissions: 0o600)
    }

    /// Gives an entry another name, replacing any entry with that.
    package func rename(_ name: String, to other: String) throws(FileError) {
        guard renameat(descriptor, name, descriptor, other) == 0 else { throw .last }
    }

    /// Opens the same folder again, for a user that may need it longer.
    func again() throws(FileError) -> Folder { try Folder(".", at: descriptor) }
}

/// An unfinished file that only this user can access; it gets its name once it is complete, and is removed otherwise.
package struct Draft: ~Copyable {
    private let folder: Folder
    private let file: OpenFile
    private let name: String
    private var isPlaced = false

    private static let prefix = ".lanyard-draft."
    /// Seconds after which an unfinished draft counts as abandoned.
    private static let patience = 60

    /// Creates a draft in a folder.
    package init(in folder: borrowing Folder) throws(FileError) {
        let name = "\(Self.prefix)\(getpid()).\(UInt64.random(in: .min ... .max))"
        let copy = try folder.again()
        let file = try copy.newFile(name)
        self.folder = copy
        self.file = file
        self.name = name
    }

    deinit {
        if !isPlaced { folder.remove(name) }
    }

    /// Appends bytes.
    package func write(_ bytes: [UInt8]) throws(FileError) { try file.write(bytes) }

    /// Waits until the contents are on disk.
    package func flush() throws(FileError) { try asking { Int(fsync(file.descriptor)) } }

    /// Gives it the owner and group of another file; false if that isn't allowed.
    @discardableResult
    package func give(toOwnerOf other: FileStatus) -> Bool { fchown(file.descriptor, other.owner, other.group) == 0 }

    /// Sets its permissions regardless of the umask; on a file system without permissions, this has no effect.
    package func setPermissions(_ permissions: mode_t) { fchmod(file.descriptor, permissions) }

    /// Gives it its name, replacing any file with that name.
    package consuming func place(as final: String) throws(FileError) {
        try folder.rename(name, to: final)
        isPlaced = true
    }

    /// Removes the drafts of processes that were killed from a folder: those that are a minute old, or all if no other process
    /// writes there now.
    package static func removeStale(in folder: borrowing Folder, all: Bool = false) {
        for name in folder.names(atMost: 4096) where name.hasPrefix(prefix) {
            guard let status = folder.status(of: name), status.isRegular, status.isOwn,
                all || abs(time(nil) - status.modified) >= patience
            else { continue }
            folder.remove(name)
        }
    }
}
