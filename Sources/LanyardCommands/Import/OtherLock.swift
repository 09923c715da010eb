import Addresses
import Files
import Glibc

/// A lock of another program's beside what it keeps: waited for, never taken, since nothing of the program's is changed.
///
/// Some exist only while they are held, with the holder's process in them; others stay, and the kernel knows.
struct OtherLock {
    private let path: String

    /// A lock at a path, whether or not it exists.
    init(_ path: String) { self.path = path }

    /// Seconds for which such programs wait for each other; then they go on.
    private static let patience = 5

    /// Reads while nobody writes, as far as the lock tells.
    func reading<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        let start = time(nil)
        while true {
            while isHeld, time(nil) - start < Self.patience { usleep(50_000) }
            let result = try body()
            // Whoever took it meanwhile may have written half.
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
        // What died left it behind.
        let text = (try? OpenFile.bytes(from: file, atMost: 64)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        guard let process = text.pieces(between: " ").first.flatMap({ pid_t($0.trimmed(of: " \n")) }), process > 0
        else {
            return false
        }
        return kill(process, 0) == 0 || errno == EPERM
    }
}

/// What fcntl(2) tells of a lock.
private typealias RecordLock = Glibc.flock
