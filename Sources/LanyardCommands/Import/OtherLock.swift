import Files
import Glibc
import Terminal

/// Another program's lock; lanyard waits for it but never takes it, because lanyard doesn't change that program's
/// files.
///
/// Some lock files exist only while they are held, and contain the holder's process ID. Others stay, and the kernel
/// knows whether they are locked.
struct OtherLock {
    private let path: String

    /// Creates a lock for a path, whether or not the file exists.
    init(_ path: String) { self.path = path }

    /// The number of seconds after which such programs stop waiting for each other.
    private static let patience = 5

    /// Reads while no other program writes, as far as the lock shows.
    func reading<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        let start = time(nil)
        while true {
            while isHeld, time(nil) - start < Self.patience { usleep(50_000) }
            let result = try body()
            // A program that took the lock meanwhile may have written only part.
            if !isHeld || time(nil) - start >= Self.patience { return result }
        }
    }

    private var isHeld: Bool {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return false }
        defer { close(file) }
        guard flock(file, LOCK_SH | LOCK_NB) == 0 else { return true }
        flock(file, LOCK_UN)
        var other = RecordLock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 0, l_pid: 0)
        if fcntl(file, F_GETLK, &other) == 0, other.l_type != Int16(F_UNLCK) { return true }
        // A process that died has left the lock file behind.
        return LockHolder.process(namedIn: file).map(LockHolder.isAlive) ?? false
    }
}

/// The lock description of fcntl(2).
private typealias RecordLock = Glibc.flock
