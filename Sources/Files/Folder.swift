internal import Glibc

/// An open folder.
///
/// What is in it is reached from here and never through a link, so that nothing that is swapped meanwhile leads elsewhere.
package struct Folder: ~Copyable, Sendable {
    private let file: OpenFile
    private var descriptor: CInt { file.descriptor }

    /// Opens a folder, through links too.
    package init(_ path: String) throws(FileProblem) {
        try self.init(path, at: AT_FDCWD)
    }

    private init(_ path: String, at parent: CInt, _ flags: CInt = 0) throws(FileProblem) {
        file = try OpenFile(path, at: parent, O_RDONLY | O_DIRECTORY | flags)
    }

    /// Whether the path is a folder of this user's.
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

    /// Refuses a folder that isn't this user's, or that grants others any of these permissions.
    package func requireOwn(closedTo permissions: UInt32 = 0) throws(FileProblem) {
        let status = try file.status()
        guard status.isOwn else { throw .foreign }
        guard !status.grants(permissions) else { throw .exposed }
    }

    /// Opens a folder in this one that is this user's, and closes it to everybody else.
    package func privateFolder(_ name: String, making: Bool) throws(FileProblem) -> Folder {
        if making, mkdirat(descriptor, name, 0o700) != 0, errno != EEXIST { throw .last }
        let folder = try Folder(name, at: descriptor, O_NOFOLLOW)
        let status = try folder.file.status()
        guard status.isOwn else { throw .foreign }
        if status.grants(0o077), fchmod(folder.descriptor, 0o700) != 0 { throw .last }
        return folder
    }

    /// What has the name; of a link, the link.
    package func status(of name: String) -> FileStatus? {
        var status = stat()
        return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? FileStatus(status) : nil
    }

    /// Reads a regular file of this user's that grants others none of these permissions.
    ///
    /// - Parameters:
    ///   - name: the file's name.
    ///   - limit: the longest file that is read, in bytes.
    ///   - first: how many bytes are read, if not all.
    ///   - permissions: what others must not be allowed.
    /// - Returns: its bytes.
    /// - Throws: `FileProblem` if it can't be read, or isn't such a file.
    package func read(
        _ name: String, atMost limit: Int, first: Int? = nil, closedTo permissions: UInt32 = 0o077
    ) throws(FileProblem) -> [UInt8] {
        let file = try OpenFile(name, at: descriptor, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        let status = try file.status()
        guard status.isRegular else { throw .irregular }
        guard status.isOwn else { throw .foreign }
        guard !status.grants(permissions) else { throw .exposed }
        guard status.size <= limit else { throw .tooLong }
        return try OpenFile.bytes(from: file.descriptor, atMost: first ?? status.size)
    }

    /// Reads a regular file, whosesoever it is.
    ///
    /// - Throws: `FileProblem` if it can't be read, is a link or something else, or is longer.
    package func readForeign(_ name: String, atMost limit: Int) throws(FileProblem) -> [UInt8] {
        let file = try OpenFile(name, at: descriptor, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        let status = try file.status()
        guard status.isRegular else { throw .irregular }
        guard status.size <= limit else { throw .tooLong }
        return try file.contents(atMost: limit)
    }

    /// Opens a file of this user's to read and write; it is made if it is missing.
    package func openFile(_ name: String) throws(FileProblem) -> OpenFile {
        let file = try OpenFile(name, at: descriptor, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, permissions: 0o600)
        let status = try file.status()
        guard status.isRegular else { throw .irregular }
        guard status.isOwn else { throw .foreign }
        return file
    }

    /// Puts a file for this user alone in place of whatever has the name, all of it or nothing.
    ///
    /// A link is replaced, not followed.
    ///
    /// - Parameters:
    ///   - bytes: what will be in it.
    ///   - name: its name.
    ///   - isDurable: whether it is to survive that the machine loses power now.
    /// - Throws: `FileProblem`; whatever has the name stays then.
    package func write(_ bytes: [UInt8], to name: String, isDurable: Bool) throws(FileProblem) {
        let draft = try Draft(in: self)
        try draft.write(bytes)
        if isDurable { try draft.flush() }
        try draft.place(as: name)
    }

    /// Makes a link of this name, in place of whatever has it; nothing changes if it leads there already.
    package func link(_ name: String, to target: String) throws(FileProblem) {
        guard SymbolicLink.target(of: name, in: descriptor) != target else { return }
        let draft = ".\(name).\(getpid())"
        remove(draft)
        guard symlinkat(target, descriptor, draft) == 0 else { throw .last }
        do throws(FileProblem) { try rename(draft, to: name) } catch {
            remove(draft)
            throw error
        }
    }

    /// Removes what has the name: a link, not what it leads to; a folder only if it is empty.
    package func remove(_ name: String) {
        guard unlinkat(descriptor, name, 0) != 0, errno == EISDIR else { return }
        unlinkat(descriptor, name, AT_REMOVEDIR)
    }

    /// The names of what is in it, at most so many.
    package func names(atMost limit: Int) -> [String] {
        // A descriptor of its own: reading moves the position that duplicates share.
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

    /// Waits for the folder's lock, which ends with the value; false if somebody else held it all the time.
    package func lock(within patience: Duration) throws(FileProblem) -> Bool { try file.lock(within: patience) }

    func newFile(_ name: String) throws(FileProblem) -> OpenFile {
        try OpenFile(name, at: descriptor, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, permissions: 0o600)
    }

    func rename(_ name: String, to other: String) throws(FileProblem) {
        guard renameat(descriptor, name, descriptor, other) == 0 else { throw .last }
    }

    /// The same folder once more, for somebody who may need it longer.
    func again() throws(FileProblem) -> Folder { try Folder(".", at: descriptor) }
}
