internal import Crypto
internal import Glibc
public import JSON

/// Small notes that the processes of one user leave for each other in the runtime directory.
///
/// They say what went wrong lately and until when it counts; nothing depends on them, so that whatever can't be read or
/// written is passed over in silence. Only a digest of what a note is about shows in its file's name.
public struct SharedNotes: Sendable {
    /// The longest note, in bytes.
    static let longest = 8192
    /// Seconds after which a note is removed, whatever it says.
    static let lifetime = 3600

    private let folders: (base: String, notes: String)?

    /// Makes notes in the user's runtime directory; where there is none, nothing is kept.
    ///
    /// - Parameter runtimeDirectory: `$XDG_RUNTIME_DIR`; one that is not absolute or not this user's counts as absent.
    public init(runtimeDirectory: String?) {
        guard let runtimeDirectory, runtimeDirectory.hasPrefix("/"), LockDirectory.isOurs(runtimeDirectory) else {
            folders = nil
            return
        }
        folders = (runtimeDirectory + "/lanyard", runtimeDirectory + "/lanyard/throttle")
    }

    /// Milliseconds since this computer was started, which no setting of its clock changes.
    public static var milliseconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }

    /// The note about something, or nil where there is none.
    public func note(about key: String) -> JSONValue? {
        guard let folders else { return nil }
        let file = open(Self.path(of: key, in: folders.notes), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            status.st_size <= Self.longest
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        let count = read(file, &bytes, bytes.count)
        return count > 0 ? JSONValue(bytes: bytes[..<count]) : nil
    }

    /// Puts a note in place of any about the same; others see all of it or nothing.
    public func leave(_ note: JSONValue, about key: String) {
        let bytes = note.encoded()
        guard let folders, bytes.count <= Self.longest, (try? LockDirectory.prepare(folders.base)) != nil,
            (try? LockDirectory.prepare(folders.notes)) != nil
        else { return }
        sweep(folders.notes)
        let draft = folders.notes + "/.\(getpid()).\(UInt64.random(in: .min ... .max))"
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        let count = write(file, bytes, bytes.count)
        close(file)
        guard count == bytes.count, rename(draft, Self.path(of: key, in: folders.notes)) == 0 else {
            unlink(draft)
            return
        }
    }

    /// Removes the note about something.
    public func remove(about key: String) {
        if let folders { unlink(Self.path(of: key, in: folders.notes)) }
    }

    private static func path(of key: String, in folder: String) -> String {
        folder + "/" + SHA256.hash(data: [UInt8](key.utf8)).hexadecimal + ".json"
    }

    /// Removes what nobody will read any more.
    private func sweep(_ folder: String) {
        guard let stream = opendir(folder) else { return }
        defer { closedir(stream) }
        var seen = 0
        while seen < 4096, let entry = readdir(stream) {
            seen += 1
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            var status = stat()
            guard name != ".", name != "..", lstat(folder + "/" + name, &status) == 0,
                time(nil) - status.st_mtim.tv_sec > Self.lifetime
            else { continue }
            unlink(folder + "/" + name)
        }
    }
}
