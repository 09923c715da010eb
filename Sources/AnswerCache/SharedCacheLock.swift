package import Files
internal import Glibc

/// The lock of a cache that programs of several languages share: a file that exists while a program writes.
///
/// Python and .NET check `flock`, Java checks `fcntl`, and JavaScript only checks whether the file exists. So the
/// holder creates the file, takes both locks on it and writes its process ID into it; it removes the file before it
/// releases the locks. The lock is held for milliseconds.
public final class SharedCacheLock: Sendable {
    private let path: String
    private let descriptor: CInt

    /// Seconds to wait for other holders, the same as in the libraries.
    public static let patience = 5.0

    /// Waits for the lock, blocking the thread; nil if others held it all the time.
    ///
    /// A file that nobody has locked and whose creator is gone is removed, because it would block JavaScript programs
    /// forever.
    ///
    /// - Throws: `FileError` if the file can't be created.
    package static func acquire(
        at path: String, within seconds: Double = SharedCacheLock.patience
    ) throws(FileError) -> SharedCacheLock? {
        let end = now + seconds
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            if descriptor >= 0 {
                if lock(descriptor) {
                    return SharedCacheLock(path, descriptor)
                }
                // Another process locked the new file first; it owns the file and will remove it.
                close(descriptor)
            } else if errno != EEXIST {
                throw .last
            } else {
                removeIfLeft(path)
            }
            guard now < end else { return nil }
            usleep(20_000)
        }
    }

    private init(_ path: String, _ descriptor: CInt) {
        self.path = path
        self.descriptor = descriptor
        let name = Array("\(getpid()) lanyard\n".utf8)
        _ = write(descriptor, name, name.count)
    }

    deinit {
        unlink(path)
        close(descriptor)
    }

    private static func lock(_ descriptor: CInt) -> Bool {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return false }
        var whole = Glibc.flock()
        whole.l_type = Int16(F_WRLCK)
        whole.l_whence = Int16(SEEK_SET)
        return fcntl(descriptor, F_SETLK, &whole) == 0
    }

    /// Removes the file if nobody has locked it and the process that it names is gone.
    private static func removeIfLeft(_ path: String) {
        let descriptor = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard lock(descriptor), let maker = LockHolder.process(namedIn: descriptor), !LockHolder.isAlive(maker),
            isStill(descriptor, at: path)
        else { return }
        unlink(path)
    }

    /// Whether the path still leads to the open file, which might have been removed and created again.
    private static func isStill(_ descriptor: CInt, at path: String) -> Bool {
        var (mine, named) = (stat(), stat())
        guard fstat(descriptor, &mine) == 0, lstat(path, &named) == 0 else { return false }
        return mine.st_ino == named.st_ino && mine.st_dev == named.st_dev
    }

    private static var now: Double { Double(SharedNotes.milliseconds) / 1000 }
}
