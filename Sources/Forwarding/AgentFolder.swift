internal import Addresses
internal import CLinux
internal import Files
internal import Glibc

/// The folder of an agent's sockets, which only this user can access and only one agent can use at a time.
public struct AgentFolder: ~Copyable, Sendable {
    /// The folder's path.
    public let path: String
    private let folder: Folder
    /// The lock, which is held as long as this value exists, however the process ends.
    private let lock: OpenFile

    /// The reason why there can be no agent.
    public enum Problem: Error, Sendable, Equatable {
        /// There already is one.
        case taken
        /// The folder can't be used, for this reason.
        case unusable(String)
    }

    private static let lockName = ".lock"

    init(_ path: String) throws(Problem) {
        let folder = try Self.folder(path)
        lock = try Self.lock(in: folder)
        self.folder = folder
        self.path = path
    }

    private static func folder(_ path: String) throws(Problem) -> Folder {
        do throws(FileProblem) {
            let parent = FileTrust.parent(of: path)
            Folder.make(parent)
            guard let (_, name) = path.cut(atLast: "/") else { throw .irregular }
            let above = try Folder(parent)
            try above.requireOwn()
            return try above.privateFolder(String(name), making: true)
        } catch {
            throw .unusable(error.reason)
        }
    }

    private static func lock(in folder: borrowing Folder) throws(Problem) -> OpenFile {
        do throws(FileProblem) {
            let file = try folder.openFile(lockName)
            if try file.tryLock() { return file }
        } catch {
            throw .unusable(error.reason)
        }
        throw .taken
    }

    /// Creates a socket with this name, replacing one that a killed agent left behind; returns its descriptor or the
    /// negative errno.
    func listen(as name: String) -> CInt {
        folder.remove(name)
        return lanyard_socket_listen("\(path)/\(name)", Limit.backlog)
    }

    func remove(_ name: String) { folder.remove(name) }

    /// Removes sockets that a killed agent left behind.
    func removeOthers(than names: [String]) {
        for name in folder.names(atMost: 4096) where name != Self.lockName && !names.contains(name) {
            folder.remove(name)
        }
    }
}
