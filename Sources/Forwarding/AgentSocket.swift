internal import Addresses
internal import CLinux
internal import Files
import Glibc
internal import Model
internal import Secrets
internal import SystemPackage

/// The socket of an agent, as seen by its clients.
///
/// It blocks the thread, because a remembered answer takes less time than starting another thread.
public struct AgentSocket: Sendable {
    /// The socket's path.
    public let path: String

    /// Creates a reference to the socket at a path.
    public init(_ path: String) {
        self.path = path
    }

    /// How long to go on trying while the agent has as many connections waiting as it takes: milliseconds.
    private static let patienceToConnect: CInt = 5_000
    /// How long an answer may take if the user isn't asked, and if they are, in milliseconds.
    private static let (unattendedPatience, attendedPatience) = (60_000, 3_600_000)

    /// How long an agent may take to refuse a request for nothing, in seconds.
    private static let patienceToCheck = 10

    /// Sends a request and waits for the answer.
    ///
    /// The connection stays open meanwhile: closing it withdraws the request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - limit: The number of seconds that the caller can wait; nil if there is no limit.
    ///   - waiting: Called once if the answer takes longer than a second.
    /// - Returns: The agent's reply.
    /// - Throws: `AgentError` if there is none.
    public func ask(
        _ request: ForwardedRequest, within limit: Int? = nil, waiting: () -> Void
    ) throws(AgentError) -> ForwardedReply {
        guard let block = try? request.block().encoded else { throw .unwritable }
        let descriptor = try trusted()
        defer { close(descriptor) }
        let patience =
            limit.map { $0 * 1000 } ?? (request.wanted.isUnattended ? Self.unattendedPatience : Self.attendedPatience)
        let deadline = Uptime.now + patience
        try send(block + [0x0A], to: descriptor, until: deadline)
        return try receive(from: descriptor, until: deadline, waiting)
    }

    /// Checks whether an agent answers there, by a request for nothing, which it refuses.
    ///
    /// A connection alone doesn't show it: sshd accepts one whether or not there is an agent at the other end.
    ///
    /// - Throws: `AgentError` if not.
    public func check() throws(AgentError) {
        _ = try ask(ForwardedRequest(CredentialRequest(), requester: ""), within: Self.patienceToCheck) {}
    }

    /// Whether an agent answers.
    public var answers: Bool { (try? check()) != nil }

    /// Connects, and checks that the other end may know the request.
    private func trusted() throws(AgentError) -> CInt {
        let descriptor = try connect()
        let peer = lanyard_socket_peer(descriptor)
        // In a container lanyard often runs as root, and the socket is the host user's.
        guard peer == 0 || peer == Int64(geteuid()) || geteuid() == 0 && isOutOfReach else {
            close(descriptor)
            throw .foreign
        }
        return descriptor
    }

    /// Whether nobody but root could have put the socket where it is.
    private var isOutOfReach: Bool {
        guard let resolved = FileTrust.realPath(path) else { return false }
        var trust = FileTrust()
        guard case .trusted = trust.check(FileTrust.parent(of: resolved)) else { return false }
        return true
    }

    private func connect() throws(AgentError) -> CInt {
        let descriptor = lanyard_socket_connect(path, Self.patienceToConnect)
        guard descriptor >= 0 else {
            throw .unreachable(Errno(rawValue: -descriptor).description, isThere: -descriptor == ECONNREFUSED)
        }
        return descriptor
    }

    private func send(_ bytes: [UInt8], to descriptor: CInt, until deadline: Int) throws(AgentError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                guard Uptime.wait(for: POLLOUT, at: descriptor, until: deadline) else { throw .silent }
            } else if errno != EINTR {
                // The agent may have sent the reason before it hung up.
                return
            }
        }
    }

    private func receive(
        from descriptor: CInt, until deadline: Int, _ waiting: () -> Void
    ) throws(AgentError) -> ForwardedReply {
        var parser = AttributeParser(longestInput: ForwardedReply.longest)
        var hasTold = false
        while true {
            let quiet = hasTold ? deadline : min(deadline, Uptime.now + 1000)
            guard Uptime.wait(for: POLLIN, at: descriptor, until: quiet) else {
                guard !hasTold, Uptime.now < deadline else { throw .silent }
                hasTold = true
                waiting()
                continue
            }
            var bytes = [UInt8](repeating: 0, count: 16 * 1024)
            let count = read(descriptor, &bytes, bytes.count)
            if count < 0, errno == EAGAIN || errno == EINTR { continue }
            guard count > 0 else { throw .hungUp }
            guard let blocks = try? parser.consume(bytes[..<count]) else { throw .garbled }
            guard let block = blocks.first else { continue }
            guard let reply = try? ForwardedReply(block) else { throw .garbled }
            return reply
        }
    }
}

/// The reason why an agent doesn't answer, or why there can be none.
public enum AgentError: Error, Sendable, Equatable {
    /// The agent can't be reached, for this reason; if the socket exists, nobody listens at it.
    case unreachable(String, isThere: Bool)
    /// Another user listens there, who would learn what is requested and could answer anything.
    case foreign
    /// The answer is invalid.
    case garbled
    /// The agent closed the connection without an answer.
    case hungUp
    /// The agent didn't answer in time.
    case silent
    /// The request can't be encoded.
    case unwritable
    /// There already is an agent.
    case exists
    /// The folder of an agent's sockets can't be used, for this reason.
    case unusable(String)
}

/// Milliseconds of a clock that changes of the time of day don't affect.
enum Uptime {
    static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }

    /// Waits until a descriptor is ready or its other end is closed; false if the deadline passes first.
    static func wait(for events: Int32, at descriptor: CInt, until deadline: Int) -> Bool {
        while true {
            var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            let left = deadline - now
            guard left > 0 else { return false }
            let count = poll(&entry, 1, CInt(min(left, Int(CInt.max))))
            if count > 0 { return true }
            if count < 0, errno != EINTR { return true }
        }
    }
}

/// The folder of an agent's sockets, which only this user can access and only one agent can use at a time.
public struct AgentFolder: ~Copyable, Sendable {
    /// The folder's path.
    public let path: String
    private let folder: Folder
    /// The lock, which is held as long as this value exists, however the process ends.
    private let lock: OpenFile

    private static let lockName = ".lock"

    init(_ path: String) throws(AgentError) {
        let folder = try Self.folder(path)
        lock = try Self.lock(in: folder)
        self.folder = folder
        self.path = path
    }

    private static func folder(_ path: String) throws(AgentError) -> Folder {
        do throws(FileError) {
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

    private static func lock(in folder: borrowing Folder) throws(AgentError) -> OpenFile {
        do throws(FileError) {
            let file = try folder.openFile(lockName)
            if try file.tryLock() { return file }
        } catch {
            throw .unusable(error.reason)
        }
        throw .exists
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

/// The name that this machine calls itself, as the kernel has it; nil if it can't be read.
///
/// It has yet to be made fit to show.
package var ownHostName: String? {
    var buffer = [CChar](repeating: 0, count: 256)
    guard gethostname(&buffer, buffer.count - 1) == 0 else { return nil }
    return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}
