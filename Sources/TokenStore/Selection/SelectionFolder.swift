import Addresses
internal import Glibc

/// The open folder of the selection; nobody but this user can put anything into it.
///
/// The file is reached from the open folder and never through a link, so that nothing that is swapped meanwhile leads
/// elsewhere.
struct SelectionFolder: ~Copyable {
    private let descriptor: CInt
    private let path: String

    /// The longest file that is read: more than as many lines as there may be, each as long as it may be.
    private static let longest = 1 << 18
    /// Milliseconds to wait for another process that changes the file.
    private static let patience = 2000

    /// Opens the folder, made with its parents where it is missing.
    init(_ path: String, making: Bool) throws(SelectionError) {
        if making { Self.make(path) }
        descriptor = try Self.open(path)
        self.path = path
    }

    deinit { close(descriptor) }

    /// Reads a file; nil where there is none, or what is there is no file of this user's alone.
    func read(_ name: String) -> [UInt8]? {
        let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            status.st_mode & 0o022 == 0, status.st_size <= Self.longest
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        let count = Glibc.read(file, &bytes, bytes.count)
        return count < 0 ? nil : Array(bytes[..<count])
    }

    /// Puts a file in place of whatever has the name, all of it or nothing; a link is replaced, not followed.
    func write(_ bytes: [UInt8], to name: String) throws(SelectionError) {
        let draft = ".\(name).\(getpid()).\(UInt64.random(in: .min ... .max))"
        let file = openat(descriptor, draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure() }
        let count = Glibc.write(file, bytes, bytes.count)
        let isWhole = count == bytes.count && fsync(file) == 0
        close(file)
        guard isWhole, renameat(descriptor, draft, descriptor, name) == 0 else {
            let error = failure()
            unlinkat(descriptor, draft, 0)
            throw error
        }
    }

    /// Waits until no other process changes the file; the kernel gives the lock back when the folder is closed.
    ///
    /// A process that holds it for seconds has been stopped: what it would write is then overwritten.
    func lock() {
        for _ in 0..<Self.patience where flock(descriptor, LOCK_EX | LOCK_NB) != 0 { usleep(1000) }
    }

    private func failure() -> SelectionError {
        SelectionError(path: path, reason: String(cString: strerror(errno)))
    }

    private static func open(_ path: String) throws(SelectionError) -> CInt {
        let folder = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else {
            throw SelectionError(path: path, reason: String(cString: strerror(errno)), isMissing: errno == ENOENT)
        }
        var status = stat()
        let isOurs = fstat(folder, &status) == 0 && status.st_uid == geteuid()
        guard isOurs, status.st_mode & 0o022 == 0 else {
            close(folder)
            throw SelectionError(
                path: path, reason: isOurs ? "others may write to it" : "it belongs to somebody else")
        }
        return folder
    }

    private static func make(_ path: String) {
        var made = ""
        for part in path.pieces(between: "/") {
            made += "/\(part)"
            mkdir(made, 0o700)
        }
    }
}

/// Why the selection can't be kept.
public struct SelectionError: Error, Sendable, Equatable {
    /// The folder, as the environment names it.
    public var path: String
    /// What is wrong with it, in few words.
    public var reason: String
    /// Whether it is merely not there.
    var isMissing = false
}
