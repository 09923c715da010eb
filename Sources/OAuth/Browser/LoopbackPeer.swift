import Glibc
import NIOCore

/// Who is at the other end of a connection to the loopback port.
///
/// A sign-in's state stands in the browser's arguments, which every user of the computer can read, so whoever knows it may
/// still be another user who wants to be signed in here in one's place.
enum LoopbackPeer: Sendable, Equatable {
    /// A process of the user with this id.
    case user(UInt32)
    /// Nobody any more: the socket is closed, and whose it was can't be told.
    case nobody
    /// No process of this computer's, as far as its network reaches.
    case elsewhere

    /// Whether it may finish a sign-in of the user's.
    ///
    /// Root may, who can do everything anyhow, and forwards ports for others. So may a connection from outside: it comes
    /// through what forwards Windows' loopback to WSL, and another user of this computer cannot make one.
    func mayAnswer(to user: UInt32) -> Bool {
        switch self {
        case .user(let peer): peer == user || peer == 0
        case .nobody: false
        case .elsewhere: true
        }
    }

    /// Finds out by the kernel's tables of connections.
    ///
    /// - Returns: nil if the tables can't be read here.
    static func find(_ channel: any Channel) async -> LoopbackPeer? {
        guard let here = channel.localAddress, let there = channel.remoteAddress else { return .nobody }
        switch SocketTable(from: there, to: here).search() {
        case .peer(let peer): return peer
        case .unreadable: return nil
        // Its line may be gone with it; then this end of the connection is closed too.
        case .absent: return await isOpen(channel) ? .elsewhere : .nobody
        }
    }

    private static func isOpen(_ channel: any Channel) async -> Bool {
        guard let options = channel as? any SocketOptionProvider else { return false }
        return (try? await options.getTCPInfo().get())?.tcpi_state == UInt8(TCP_ESTABLISHED)
    }
}
