internal import Glibc

/// The open directory of sealed answers; nobody but this user can have put anything into it.
///
/// Every file is reached from the open directory and never through a link, so that nothing that is swapped meanwhile
/// leads elsewhere.
struct AnswerDirectory: ~Copyable {
    private let descriptor: CInt

    /// How many files it holds at most.
    static let mostFiles = 512
    /// Seconds after which a file that somebody began to write is given up.
    private static let patience = 60

    /// Opens `lanyard/answers` in the user's runtime directory; nil where it can't be used.
    init?(in runtimeDirectory: String, making: Bool) {
        let base = open(runtimeDirectory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard base >= 0 else { return nil }
        defer { close(base) }
        guard Self.isOurs(base, beyond: 0o022),
            let middle = Self.folder("lanyard", in: base, making: making)
        else { return nil }
        defer { close(middle) }
        guard let answers = Self.folder("answers", in: middle, making: making) else { return nil }
        descriptor = answers
    }

    deinit { close(descriptor) }

    /// What became of the search for a file.
    enum Found {
        case bytes([UInt8])
        case nothing
        /// Something is there that is no file of this user's, or is too long.
        case foreign
    }

    /// Reads a file, at most so many bytes where a number is given.
    func read(_ name: String, first: Int? = nil) -> Found {
        let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return errno == ENOENT ? .nothing : .foreign }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            status.st_mode & 0o077 == 0, status.st_size <= SealedAnswer.longest
        else { return .foreign }
        var bytes = [UInt8](repeating: 0, count: first ?? Int(status.st_size))
        let count = Glibc.read(file, &bytes, bytes.count)
        return count < 0 ? .foreign : .bytes(Array(bytes[..<count]))
    }

    /// Puts a file in place of whichever has the name, all of it or nothing.
    func write(_ bytes: [UInt8], to name: String) {
        let draft = ".\(getpid()).\(UInt64.random(in: .min ... .max))"
        let file = openat(descriptor, draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        let count = Glibc.write(file, bytes, bytes.count)
        close(file)
        guard count == bytes.count, renameat(descriptor, draft, descriptor, name) == 0 else { return remove(draft) }
    }

    /// Removes what has the name; a link, not what it leads to.
    func remove(_ name: String) {
        guard unlinkat(descriptor, name, 0) != 0, errno == EISDIR else { return }
        unlinkat(descriptor, name, AT_REMOVEDIR)
    }

    /// Removes everything.
    func clear() {
        for name in names() { remove(name) }
    }

    /// Removes what no longer counts at that time; tells how many files are left.
    func sweep(at now: Int) -> Int {
        var left = 0
        for name in names() {
            if keeps(name, at: now) { left += 1 } else { remove(name) }
        }
        return left
    }

    private func keeps(_ name: String, at now: Int) -> Bool {
        guard name.utf8.count == AnswerName.fileLength, name.hasSuffix(AnswerName.suffix) else {
            var status = stat()
            guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
            return abs(now - status.st_mtim.tv_sec) < Self.patience
        }
        guard case .bytes(let bytes) = read(name, first: 64), let answer = SealedAnswer(bytes) else { return false }
        return answer.counts(at: now)
    }

    private func names() -> [String] {
        // A descriptor of its own: reading moves the position that duplicates share.
        let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let stream = fdopendir(copy) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while names.count < Self.mostFiles * 8, let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    private static func folder(_ name: String, in parent: CInt, making: Bool) -> CInt? {
        if making { mkdirat(parent, name, 0o700) }
        let folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else { return nil }
        if isOurs(folder, beyond: 0o077) || (isOurs(folder, beyond: 0) && fchmod(folder, 0o700) == 0) { return folder }
        close(folder)
        return nil
    }

    /// Whether an open directory is this user's and grants nobody any of these permissions.
    private static func isOurs(_ folder: CInt, beyond permissions: mode_t) -> Bool {
        var status = stat()
        return fstat(folder, &status) == 0 && status.st_uid == geteuid() && status.st_mode & permissions == 0
    }
}
