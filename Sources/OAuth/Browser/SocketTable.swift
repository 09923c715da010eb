import NIOCore
import SystemPackage

/// Looks a TCP socket up in the kernel's tables, `/proc/net/tcp` and `/proc/net/tcp6` (proc_pid_net(5)).
struct SocketTable: Sendable {
    /// What a table tells of a socket.
    enum Finding: Sendable, Equatable {
        case peer(LoopbackPeer)
        case absent
        case unreadable
    }

    /// Some 100,000 connections.
    private static let longest = 16 << 20

    /// The socket's addresses as the tables write them; an IPv6 socket may speak IPv4 too.
    private let ends: [(local: String, remote: String)]

    /// A look-up of the socket that is bound to one address and connected to another.
    init(from local: SocketAddress, to remote: SocketAddress) {
        ends = zip(Self.written(local), Self.written(remote)).map { (local: $0, remote: $1) }
    }

    func search() -> Finding {
        let found = search("/proc/net/tcp")
        guard found == .absent else { return found }
        // There is none if there is no IPv6.
        let foundInIPv6 = search("/proc/net/tcp6")
        return foundInIPv6 == .unreadable ? .absent : foundInIPv6
    }

    func search(_ table: FilePath) -> Finding {
        guard let file = try? FileDescriptor.open(table, .readOnly) else { return .unreadable }
        defer { try? file.close() }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var rest: [UInt8] = []
        var count = 0
        while let read = try? buffer.withUnsafeMutableBytes({ try file.read(into: $0) }) {
            guard read > 0 else { return .absent }
            count += read
            // Whoever makes the table too long to be read is not to be let in for that.
            guard count <= Self.longest, rest.count <= buffer.count else { return .peer(.nobody) }
            rest += buffer[..<read]
            let lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            if let peer = lines.dropLast().lazy.compactMap(peer).first { return .peer(peer) }
            rest = Array(lines.last ?? [])
        }
        return .unreadable
    }

    /// Who has the socket, if the line is the socket's.
    private func peer(in line: ArraySlice<UInt8>) -> LoopbackPeer? {
        let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 10)
        guard fields.count >= 10,
            ends.contains(where: { fields[1].elementsEqual($0.local.utf8) && fields[2].elementsEqual($0.remote.utf8) })
        else { return nil }
        // A socket that was closed has no inode any more, and on older kernels root's id.
        guard let user = UInt32(String(decoding: fields[7], as: UTF8.self)), fields[9] != [UInt8(ascii: "0")] else {
            return .nobody
        }
        return .user(user)
    }

    /// An address as the tables write it: words of 32 bits in the machine's order, then the port.
    private static func written(_ address: SocketAddress) -> [String] {
        let port = hexadecimal(UInt32(address.port ?? 0), digits: 4)
        switch address {
        case .v4:
            // In a sockaddr_in the address follows family and port; ip(7).
            let word = words(of: address, from: 4, count: 1)
            let mapped = hexadecimal(0) + hexadecimal(0) + hexadecimal(UInt32(0xFFFF).bigEndian) + word
            return ["\(word):\(port)", "\(mapped):\(port)"]
        case .v6:
            // In a sockaddr_in6 there are flow labels between; ipv6(7).
            return ["\(words(of: address, from: 8, count: 4)):\(port)"]
        case .unixDomainSocket:
            return []
        }
    }

    private static func words(of address: SocketAddress, from offset: Int, count: Int) -> String {
        address.withSockAddr { pointer, size in
            let bytes = UnsafeRawBufferPointer(start: pointer, count: size)
            return (0..<count)
                .map { hexadecimal(bytes.loadUnaligned(fromByteOffset: offset + 4 * $0, as: UInt32.self)) }
                .joined()
        }
    }

    private static func hexadecimal(_ word: UInt32, digits: Int = 8) -> String {
        let text = String(word, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(digits - text.utf8.count, 0)) + text
    }
}
