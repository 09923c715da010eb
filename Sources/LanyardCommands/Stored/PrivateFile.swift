import Glibc
import Secrets
import SystemPackage

/// A file that only its owner can read, made whole or not at all.
struct PrivateFile {
    let path: String

    /// Writes the contents in place of the owner's own file of that name; never through a link or over another's file.
    func write(_ contents: [UInt8]) throws(Failure) {
        try check()
        let temporary = "\(path).\(getpid()).tmp"
        do {
            let file = try FileDescriptor.open(
                FilePath(temporary), .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec, .noFollow],
                permissions: .ownerReadWrite)
            do {
                try file.closeAfter {
                    _ = try file.writeAll(contents)
                    guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
                }
                guard rename(temporary, path) == 0 else { throw Errno(rawValue: errno) }
            } catch {
                unlink(temporary)
                throw error
            }
        } catch {
            throw Failure("\(path.displayable(limit: 500)) can't be written: \(error)")
        }
    }

    /// Refuses what stands there and isn't an ordinary file of this user's.
    private func check() throws(Failure) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
            throw Failure(
                "\(path.displayable(limit: 500)) is no ordinary file of yours",
                hints: [Hint("name another", write: "--output FILE")])
        }
    }
}
