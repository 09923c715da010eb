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

    /// The folder of the socket, which the daemon's own command accepts as `GNOME_KEYRING_CONTROL`.
    public let folder: String
    private let path: String

    /// Finds the socket that this daemon listens at; nil if there is none.
    ///
    /// - Parameters:
    ///   - provider: The process that provides the Secret Service; others may listen at sockets of their own.
    ///   - environment: The process's variables.
    public init?(of provider: KeyringProvider, environment: [String: String]) {
        let folder = Self.folders(environment).first { folder in
            guard let connection = Connection.open(folder + "/control") else { return false }
            return connection.isOfProcess(provider.processID)
        }
        guard let folder else { return nil }
        self.folder = folder
        path = folder + "/control"
    }

    /// Has the daemon unlock the login keyring; nil if it doesn't answer.
    public func unlock(_ password: Secret, for provider: KeyringProvider) -> Answer? {
        // Check again: the password is for this process and no other.
        guard let connection = Connection.open(path), connection.isOfProcess(provider.processID) else { return nil }
        let password = Array(password.reveal().utf8)
        let body = Self.unlocking.bigEndianBytes + UInt32(password.count).bigEndianBytes + password
        let message = [0] + UInt32(body.count + 4).bigEndianBytes + body
        guard connection.send(message), let reply = connection.receive(8) else { return nil }
        return Answer(rawValue: UInt32(bigEndianBytes: reply[4...]))
    }

    /// `GKD_CONTROL_OP_UNLOCK`.
    private static let unlocking: UInt32 = 1

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

private struct Connection: ~Copyable {
    let socket: CInt

    /// Seconds that the daemon may take to answer.
    private static let patience: CInt = 10

    deinit { close(socket) }

    /// Connects to a socket; nil if nobody listens there.
    static func open(_ path: String) -> Connection? {
        let socket = lanyard_socket_connect(path, patience * 1000)
        guard socket >= 0 else { return nil }
        let connection = Connection(socket: socket)
        var time = timeval(tv_sec: Int(patience), tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(socket, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
        guard fcntl(socket, F_SETFL, 0) == 0 else { return nil }
        return connection
    }

    /// Whether the peer is this process and belongs to this user.
    func isOfProcess(_ number: Int32) -> Bool {
        // This is struct ucred, which only _GNU_SOURCE declares.
        var peer: (process: pid_t, user: uid_t, group: gid_t) = (0, 0, 0)
        var size = socklen_t(MemoryLayout.size(ofValue: peer))
        guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 else { return false }
        return peer.user == geteuid() && peer.process == number
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
