import CLinux
import Glibc
import NIOCore

/// The owner of the other end of a connection to the loopback port.
///
/// A sign-in's state appears in the browser's command line, which every user of the computer can read. A request with
/// the right state may therefore come from another user who wants this user to sign in to that other user's account.
enum LoopbackPeer: Sendable, Equatable {
    /// A process of the user with this ID.
    case user(UInt32)
    /// The socket is already closed, so its owner is unknown.
    case nobody
    /// No process in this computer's network namespace.
    case elsewhere

    /// Whether the peer may complete a sign-in of the user.
    ///
    /// Root may, because it can do everything anyway and forwards ports for other users. So may a connection from
    /// outside: it comes through the forwarding of Windows' loopback to WSL, and other users of this computer can't
    /// open one.
    func mayAnswer(to user: UInt32) -> Bool {
        switch self {
        case .user(let peer): peer == user || peer == 0
        case .nobody: false
        case .elsewhere: true
        }
    }

    /// Asks the kernel for the peer; if it can't be asked for a single socket, searches its connection tables.
    ///
    /// - Returns: The peer; nil if the tables can't be read, either.
    static func find(_ channel: any Channel) async -> LoopbackPeer? {
        guard let here = channel.localAddress, let there = channel.remoteAddress else { return .nobody }
        switch asked(from: there, to: here) ?? SocketTable(from: there, to: here).search() {
        case .peer(let peer): return peer
        case .unreadable: return nil
        // The peer's socket may have gone; in that case this end of the connection is closed, too.
        case .absent: return await isOpen(channel) ? .elsewhere : .nobody
        }
    }

    /// Returns the owner of the socket that is bound to one address and connected to the other; nil if the kernel
    /// doesn't even find this end.
    static func asked(from there: SocketAddress, to here: SocketAddress) -> SocketTable.Finding? {
        guard owner(from: here, to: there) >= 0 else { return nil }
        return switch owner(from: there, to: here) {
        case let user where user >= 0: .peer(.user(UInt32(user)))
        case Int64(-ENOENT): .absent
        case Int64(-ESTALE): .peer(.nobody)
        default: nil
        }
    }

    private static func owner(from local: SocketAddress, to remote: SocketAddress) -> Int64 {
        local.withSockAddr { local, _ in remote.withSockAddr { remote, _ in lanyard_tcp_owner(local, remote) } }
    }

    private static func isOpen(_ channel: any Channel) async -> Bool {
        guard let options = channel as? any SocketOptionProvider else { return false }
        return (try? await options.getTCPInfo().get())?.tcpi_state == UInt8(TCP_ESTABLISHED)
    }
}
