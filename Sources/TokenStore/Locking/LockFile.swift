internal import Addresses
internal import Files
internal import Glibc

/// An open lock file that names the lock's holder; closing it releases the lock, however the process ends.
struct LockFile: ~Copyable {
    private let file: OpenFile

    /// Opens a lock file in a folder of this user's; it, the folder and those above are made if they are missing.
    init(_ name: String, in path: String) throws(FileProblem) {
        guard let (parent, last) = path.cut(atLast: "/") else { throw .irregular }
        Folder.make(String(parent))
        let folder = try Folder(parent.isEmpty ? "/" : String(parent)).privateFolder(String(last), making: true)
        file = try folder.openFile(name)
    }

    /// Waits for the lock, blocking the thread; false if another process held it all the time.
    func lock(within seconds: Double) throws(FileProblem) -> Bool {
        guard try file.lock(within: .seconds(seconds)) else { return false }
        sign()
        return true
    }

    /// Waits for the lock; after a wait of `quiet`, calls `waiting` once with the holder, if it is known.
    func lock(
        within seconds: Double, quietFor quiet: Duration, isolation: isolated (any Actor)? = #isolation,
        waiting: (Int32?) -> Void
    ) async throws -> Bool {
        guard
            try await file.lock(
                within: .seconds(seconds), quietFor: quiet, isolation: isolation,
                waiting: { waiting(LockHolder.process(namedIn: file.descriptor)) })
        else { return false }
        sign()
        return true
    }

    /// Leaves the file open, and so locked, until the process ends.
    func keepOpen() { _ = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0) }

    private func sign() {
        let name = Array("\(getpid())\n".utf8)
        // Remove the previous holder's number first, which may be longer.
        guard ftruncate(file.descriptor, 0) == 0 else { return }
        _ = pwrite(file.descriptor, name, name.count, 0)
    }
}
