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

    /// Finds the peer in the kernel's connection tables.
    ///
    /// - Returns: The peer; nil if the tables can't be read.
    static func find(_ channel: any Channel) async -> LoopbackPeer? {
        guard let here = channel.localAddress, let there = channel.remoteAddress else { return .nobody }
        switch SocketTable(from: there, to: here).search() {
        case .peer(let peer): return peer
        case .unreadable: return nil
        // The peer's table entry may have gone with the socket; in that case this end of the connection is closed, too.
        case .absent: return await isOpen(channel) ? .elsewhere : .nobody
        }
    }

    private static func isOpen(_ channel: any Channel) async -> Bool {
        guard let options = channel as? any SocketOptionProvider else { return false }
        return (try? await options.getTCPInfo().get())?.tcpi_state == UInt8(TCP_ESTABLISHED)
    }
}
