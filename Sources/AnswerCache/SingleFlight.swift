internal import Addresses
package import Files
internal import Glibc

/// A lock that the processes of one user share, so that only one of them renews a token or asks the user.
///
/// It is a kernel lock (`flock`) and ends with its holder. The file stays and has no meaning; it names the last holder
/// for users.
public struct SingleFlight: Sendable {
    /// The folders that may hold the lock files, best first; the first one that safely belongs to this user is used.
    public let directories: [String]

    /// How long a wait may be before `waiting` is called.
    private static let quietWait = Duration.seconds(1)

    /// The session bus, whose keyring the locks are about.
    private let bus: String

    /// Puts the lock files into `/run/user/UID`, or else into the user's cache, whatever `XDG_RUNTIME_DIR` says.
    ///
    /// They are never in `/tmp`, where another user could claim the folder's name first.
    ///
    /// - Parameter environment: `HOME`, and `XDG_CACHE_HOME` and `XDG_RUNTIME_DIR` if that names no usable folder; the
    ///   session bus.
    public init(environment: [String: String]) {
        self.init(in: environment.lockFolders, of: environment.keyringBus)
    }

    /// Puts the lock files into the first of these folders that can be used.
    package init(in directories: [String], of bus: String = "") {
        (self.directories, self.bus) = (directories, bus)
    }

    /// Runs the body while no other process or task of this user does so under the same key.
    ///
    /// - Parameters:
    ///   - key: The purpose of the lock; only its digest is visible.
    ///   - deadline: Seconds to wait for the lock; the body isn't limited.
    ///   - waiting: Called once if the wait takes long enough to be reported, with the process that holds the lock, if
    ///     it is known.
    ///   - isolation: Where the body runs.
    ///   - body: The work to do under the lock.
    /// - Returns: The result of the body.
    /// - Throws: `FileError.locked` if another process holds the lock until the deadline, another `FileError` if no folder or file
    ///   for it safely belongs to this user, `CancellationError` while waiting, and any error of the body.
    public func withLock<Result>(
        key: String, deadline: Double, waiting: (Int32?) -> Void = { _ in },
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> sending Result
    ) async throws -> sending Result {
        let file = try await locked(key, deadline: deadline, waiting: waiting, isolation: isolation)
        defer { withExtendedLifetime(file) {} }
        return try await body()
    }

    /// Runs the body under the lock of a key, blocking the thread while another process holds it.
    ///
    /// - Throws: `FileError`, and any error of the body.
    public func withLock<Result>(key: String, blockingFor seconds: Double, _ body: () throws -> Result) throws -> Result
    {
        let file = try open(key)
        guard try file.lock(within: seconds) else { throw FileError.locked }
        defer { withExtendedLifetime(file) {} }
        return try body()
    }

    /// Waits for the lock of a key, and keeps it for as long as this process lives.
    ///
    /// - Parameters:
    ///   - key: The purpose of the lock; only its digest is visible.
    ///   - deadline: Seconds to wait for the lock.
    /// - Throws: `FileError`, or `CancellationError`.
    public func keepLock(key: String, deadline: Double) async throws {
        try await locked(key, deadline: deadline, waiting: { _ in }, isolation: #isolation).keepOpen()
    }

    private func locked(
        _ key: String, deadline: Double, waiting: (Int32?) -> Void, isolation: isolated (any Actor)?
    ) async throws -> LockFile {
        let file = try open(key)
        guard try await file.lock(within: deadline, quietFor: Self.quietWait, waiting: waiting) else {
            throw FileError.locked
        }
        return file
    }

    /// Opens the lock file of a key without taking the lock.
    package func open(_ key: String) throws(FileError) -> LockFile {
        let name = "\(bus)\n\(key)".digest + ".lock"
        var last = FileError.missing
        for directory in directories {
            do throws(FileError) { return try LockFile(name, in: directory) } catch { last = error }
        }
        throw last
    }
}

/// An open lock file that names the lock's holder; closing it releases the lock, however the process ends.
package struct LockFile: ~Copyable {
    private let file: OpenFile

    /// Opens a lock file in a folder of this user's; it, the folder and those above are made if they are missing.
    init(_ name: String, in path: String) throws(FileError) {
        guard let (parent, last) = path.cut(atLast: "/") else { throw .irregular }
        Folder.make(String(parent))
        let folder = try Folder(parent.isEmpty ? "/" : String(parent)).privateFolder(String(last), making: true)
        file = try folder.openFile(name)
    }

    /// Waits for the lock, blocking the thread; false if another process held it all the time.
    package func lock(within seconds: Double) throws(FileError) -> Bool {
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

extension [String: String] {
    /// The name of the session bus, which decides whose keyring is used: the same for all environments that lead to the same bus,
    /// which isn't asked.
    ///
    /// A bus is recognised by its socket, however its address is written: processes outside of the desktop may have
    /// another one, or none.
    var keyringBus: String {
        var address = self["DBUS_SESSION_BUS_ADDRESS"] ?? ""
        if address.isEmpty {
            let folder = ownRuntimeFolder ?? sharedRuntimeFolder
            address = folder.map { "unix:path=\($0)/bus" } ?? ""
        }
        let first = address.pieces(between: ";").first ?? ""
        let parts = (first.cut(at: ":")?.1 ?? "").pieces(between: ",")
        guard let path = parts.lazy.compactMap({ $0.cut(at: "=") }).first(where: { $0.0 == "path" })?.1,
            let socket = FileStatus(of: String(path))
        else { return parts.filter { !$0.hasPrefix("guid=") }.joined(separator: ",") }
        return "\(socket.device) \(socket.inode)"
    }
}
