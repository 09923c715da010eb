import NIOCore
import SystemPackage

/// Looks up a TCP socket in the kernel's tables, `/proc/net/tcp` and `/proc/net/tcp6` (proc_pid_net(5)).
struct SocketTable: Sendable {
    /// The result of searching a table.
    enum Finding: Sendable, Equatable {
        case peer(LoopbackPeer)
        case absent
        case unreadable
    }

    /// The size limit of a table, enough for about 100,000 connections.
    private static let longest = 16 << 20

    /// The socket's addresses in the tables' format; an IPv6 socket may also use IPv4.
    private let ends: [(local: String, remote: String)]

    /// Creates a look-up of the socket that is bound to one address and connected to the other.
    init(from local: SocketAddress, to remote: SocketAddress) {
        ends = zip(Self.written(local), Self.written(remote)).map { (local: $0, remote: $1) }
    }

    func search() -> Finding {
        let found = search("/proc/net/tcp")
        guard found == .absent else { return found }
        // The table doesn't exist without IPv6.
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
            // A peer that makes the table too long to read must not be accepted because of that.
            guard count <= Self.longest, rest.count <= buffer.count else { return .peer(.nobody) }
            rest += buffer[..<read]
            let lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            if let peer = lines.dropLast().lazy.compactMap(peer).first { return .peer(peer) }
            rest = Array(lines.last ?? [])
        }
        return .unreadable
    }

    /// Returns the socket's owner if the line describes the socket.
    private func peer(in line: ArraySlice<UInt8>) -> LoopbackPeer? {
        let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 10)
        guard fields.count >= 10,
            ends.contains(where: { fields[1].elementsEqual($0.local.utf8) && fields[2].elementsEqual($0.remote.utf8) })
        else { return nil }
        // A closed socket has no inode, and on older kernels its owner is root.
        guard let user = UInt32(String(decoding: fields[7], as: UTF8.self)), fields[9] != [UInt8(ascii: "0")] else {
            return .nobody
        }
        return .user(user)
    }

    /// Formats an address as in the tables: 32-bit words in the machine's byte order, then the port.
    private static func written(_ address: SocketAddress) -> [String] {
        let port = hexadecimal(UInt32(address.port ?? 0), digits: 4)
        switch address {
        case .v4:
            // In a sockaddr_in, the address follows the family and port; ip(7).
            let word = words(of: address, from: 4, count: 1)
            let mapped = hexadecimal(0) + hexadecimal(0) + hexadecimal(UInt32(0xFFFF).bigEndian) + word
            return ["\(word):\(port)", "\(mapped):\(port)"]
        case .v6:
            // In a sockaddr_in6, the flow label comes before the address; ipv6(7).
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
