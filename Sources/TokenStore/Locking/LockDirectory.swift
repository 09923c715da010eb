internal import Glibc

/// A directory that nobody but this user can have put anything into.
enum LockDirectory {
    /// Whether the path is a directory of this user's.
    static func isOurs(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
    }

    /// Makes the directory, and the one above it, if they are missing, and checks that it is this user's and no link.
    static func prepare(_ path: String) throws(SingleFlightError) {
        var made = mkdir(path, 0o700)
        if made != 0, errno == ENOENT, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) {
            mkdir(String(path[..<slash]), 0o700)
            made = mkdir(path, 0o700)
        }
        if made != 0, errno != EEXIST {
            throw .unusable("\(path) can't be made: \(String(cString: strerror(errno)))")
        }
        var status = stat()
        guard lstat(path, &status) == 0 else { throw .unusable("\(path) can't be looked at") }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .unusable("\(path) is not a directory") }
        guard status.st_uid == geteuid() else { throw .unusable("\(path) belongs to somebody else") }
        guard status.st_mode & 0o077 == 0 || chmod(path, 0o700) == 0 else {
            throw .unusable("\(path) is open to others")
        }
    }

    /// Opens a lock file in the directory, making it where it is missing; never through a link.
    static func open(_ name: String, in directory: String) throws(SingleFlightError) -> LockFile {
        let path = directory + "/" + name
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .unusable("\(path) can't be opened: \(String(cString: strerror(errno)))") }
        let file = LockFile(descriptor: descriptor)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
            throw .unusable("\(path) is not a file of this user's")
        }
        return file
    }
}

/// An open lock file; closing it gives the lock back, however the process ends.
struct LockFile: ~Copyable {
    private let descriptor: CInt

    init(descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Waits for the lock, blocking the thread; false where somebody held it all the time.
    func lock(within seconds: Double) -> Bool {
        let end = ContinuousClock.now + .seconds(seconds)
        while !tryLock() {
            guard ContinuousClock.now < end else { return false }
            usleep(2000)
        }
        return true
    }

    /// Takes the lock where nobody holds it.
    func tryLock() -> Bool {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return false }
        sign()
        return true
    }

    /// The process that says it holds the lock; nil where none does.
    var holder: Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        let digits = bytes[..<count].prefix { (0x30...0x39).contains($0) }
        return Int32(String(decoding: digits, as: UTF8.self)).flatMap { $0 > 0 ? $0 : nil }
    }

    private func sign() {
        let name = Array("\(getpid())\n".utf8)
        // The longer number of a holder before must not show behind it.
        guard ftruncate(descriptor, 0) == 0 else { return }
        _ = pwrite(descriptor, name, name.count, 0)
    }
}
