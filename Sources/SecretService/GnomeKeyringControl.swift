internal import AnswerCache
internal import CLinux
internal import Files
internal import Glibc
public import Secrets

/// gnome-keyring-daemon's control socket, through which PAM unlocks the login keyring of the running daemon.
///
/// The daemon's own command, `gnome-keyring-daemon --unlock`, never talks to a running daemon: it starts a second one
/// beside it or in its place, without the keyrings that were open. The socket also reports whether the password was
/// right.
public struct GnomeKeyringControl: Sendable {
    /// The daemon's reply (gkd-control-codes.h).
    public enum Answer: UInt32, Sendable {
        /// The login keyring is unlocked.
        case done = 0
        /// The password was wrong.
        case denied = 1
        /// Something else went wrong.
        case failed = 2
    }

    private let path: String

    /// Finds the socket that this daemon listens at; nil if there is none.
    ///
    /// - Parameters:
    ///   - provider: The process that provides the Secret Service; others may listen at sockets of their own.
    ///   - environment: The process's variables.
    public init?(of provider: KeyringProvider, environment: [String: String]) {
        let folder = Self.folders(environment).first { folder in
            ControlConnection.open(folder + "/control", of: provider.processID) != nil
        }
        guard let folder else { return nil }
        path = folder + "/control"
    }

    /// Has the daemon unlock the login keyring, or create it if there is none; nil if it doesn't answer.
    public func unlock(_ password: Secret, for provider: KeyringProvider) -> Answer? {
        let password = Array(password.reveal().utf8)
        return ask(Self.unlocking, UInt32(password.count).bigEndianBytes + password, of: provider)
    }

    /// Has the daemon end; the bus starts another when one is needed.
    public func end(_ provider: KeyringProvider) { _ = ask(Self.quitting, [], of: provider) }

    private func ask(_ operation: UInt32, _ argument: [UInt8], of provider: KeyringProvider) -> Answer? {
        // Check again: what is said is for this process and no other.
        guard let connection = ControlConnection.open(path, of: provider.processID) else { return nil }
        let body = operation.bigEndianBytes + argument
        let message = [0] + UInt32(body.count + 4).bigEndianBytes + body
        guard connection.send(message), let reply = connection.receive(8) else { return nil }
        return Answer(rawValue: UInt32(bigEndianBytes: reply[4...]))
    }

    // GKD_CONTROL_OP_UNLOCK and GKD_CONTROL_OP_QUIT.
    private static let unlocking: UInt32 = 1
    private static let quitting: UInt32 = 3

    /// Returns the folders where the daemon may put its socket: below the runtime directory, or in a folder of its own
    /// in the cache.
    private static func folders(_ environment: [String: String]) -> [String] {
        let named = environment.absolutePath("GNOME_KEYRING_CONTROL")
        let ordinary = environment.absolutePath("XDG_RUNTIME_DIR").map { $0 + "/keyring" }
        let further = environment.cacheHome.map { cache in
            let names = (try? Folder(cache))?.names(atMost: 4096) ?? []
            return names.filter { $0.hasPrefix("keyring-") }.map { "\(cache)/\($0)" }
        }
        return [named, ordinary].compactMap(\.self) + (further ?? [])
    }
}

private struct ControlConnection: ~Copyable {
    let socket: CInt

    /// Seconds that the daemon may take to answer.
    private static let patience: CInt = 10

    deinit { close(socket) }

    /// Connects to a socket; nil unless this process of the user's listens there.
    ///
    /// Where systemd listens for the daemon, it has called listen(2) for a socket that the daemon holds, too. So it
    /// counts who holds the socket, which is none of the kernel's credentials.
    static func open(_ path: String, of process: Int32) -> ControlConnection? {
        guard let connection = open(path), let peer = connection.peer, peer.user == geteuid(),
            peer.process == process
                || ListeningSocket(at: path)?.isHeld(by: process) ?? (parent(of: process) == peer.process)
        else { return nil }
        return connection
    }

    /// Returns a process's parent: systemd is that of the daemons for which it listens.
    private static func parent(of process: Int32) -> Int32? {
        guard let status = try? OpenFile("/proc/\(process)/status").contents(atMost: 1 << 16) else { return nil }
        let line = status.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: "PPid:".utf8) }
        return line?.split(separator: UInt8(ascii: "\t")).last.flatMap { Int32(String(decoding: $0, as: UTF8.self)) }
    }

    private static func open(_ path: String) -> ControlConnection? {
        let socket = lanyard_socket_connect(path, patience * 1000)
        guard socket >= 0 else { return nil }
        let connection = ControlConnection(socket: socket)
        var time = timeval(tv_sec: Int(patience), tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(socket, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
        guard fcntl(socket, F_SETFL, 0) == 0 else { return nil }
        return connection
    }

    /// The process that called listen(2), and its user.
    private var peer: (process: pid_t, user: uid_t)? {
        // This is struct ucred, which only _GNU_SOURCE declares.
        var peer: (process: pid_t, user: uid_t, group: gid_t) = (0, 0, 0)
        var size = socklen_t(MemoryLayout.size(ofValue: peer))
        guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 else { return nil }
        return (peer.process, peer.user)
    }

    func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Receives exactly this many bytes; nil if fewer arrive.
    func receive(_ count: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < count {
            var chunk = [UInt8](repeating: 0, count: count - bytes.count)
            let got = recv(socket, &chunk, chunk.count, 0)
            guard got > 0 else { return nil }
            bytes += chunk[..<got]
        }
        return bytes
    }
}

/// A socket that somebody listens at, as the kernel lists it (proc_net(5)).
private struct ListeningSocket {
    private let inodes: [String]

    /// Finds the socket with this path; nil if nobody listens there.
    init?(at path: String) {
        let path = FileTrust.realPath(path) ?? path
        guard let table = try? OpenFile("/proc/net/unix").contents(atMost: 1 << 24) else { return nil }
        inodes = table.split(separator: UInt8(ascii: "\n")).compactMap { line in
            // Number, references, protocol, flags (here that it listens), type, state, inode and path.
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 7)
            guard fields.count == 8, fields[3].elementsEqual("00010000".utf8), fields[7].elementsEqual(path.utf8) else {
                return nil
            }
            return String(decoding: fields[6], as: UTF8.self)
        }
        if inodes.isEmpty { return nil }
    }

    /// Whether a process has the socket open, and any other that was at its path before; nil if that isn't shown, as of a program with capabilities.
    func isHeld(by process: Int32) -> Bool? {
        let folder = "/proc/\(process)/fd"
        guard let names = (try? Folder(folder))?.names(atMost: 65_536) else { return nil }
        let held = Set(names.compactMap { FileStatus.linkTarget(of: "\(folder)/\($0)") })
        return inodes.allSatisfy { held.contains("socket:[\($0)]") }
    }
}
