import Glibc

/// The right to change the files of a folder, among those that ask for it; it ends with the value, and with the process.
///
/// It is the kernel's (`flock`) and leaves nothing in the folder. A file system that can't lock folders, such as NFS, grants
/// it to everybody.
struct FolderLock: ~Copyable {
    private let descriptor: CInt

    private static let patience = Duration.seconds(5)

    /// Waits for the right; nil where somebody else had it for seconds.
    init?(_ folder: String) {
        descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        let end = ContinuousClock.now + Self.patience
        while descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK || errno == EINTR {
            guard ContinuousClock.now < end else {
                close(descriptor)
                return nil
            }
            usleep(2000)
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }
}
