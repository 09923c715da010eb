import CLinux
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import SystemPackage

/// A complete request to the loopback port.
package struct LoopbackRequest: Sendable {
    let method: HTTPMethod
    /// The path and query.
    package let target: String
    let headers: HTTPHeaders
    /// The body; nil if it exceeded the size limit.
    package let body: String?

    /// The name of the HTTP method.
    package var methodName: String { method.rawValue }

    /// Returns the values of a header in order; `header` is case-insensitive.
    package func values(of header: String) -> [String] { headers[header] }
}

/// The answer to a request to the loopback port.
package protocol LoopbackAnswer: Sendable {
    /// The HTTP status.
    var status: Int { get }
    /// The headers, except for the content length.
    var headers: [(String, String)] { get }
    /// The body.
    var content: String { get }
    /// The answer to a request from another user of the computer.
    static var otherUser: Self { get }
}

/// A web server for the browser's redirect, on 127.0.0.1 and, if the computer has it, [::1], on the same port.
///
/// It listens on both because a browser may resolve `localhost` to either, and a program that holds the other would get
/// the code.
package struct LoopbackListener: Sendable {
    private typealias Connection = NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>
    /// Connections aren't wrapped yet: dropping a `NIOAsyncChannel`, for example one that arrives while the listener
    /// closes, ends the process.
    private typealias Server = NIOAsyncChannel<any Channel, Never>

    private static let longestBody = 64 * 1_024
    private static let readLimit = Duration.seconds(20)
    private static let attempts = 8

    private let servers: [Server]
    /// The port of both addresses.
    package let port: Int

    /// Starts listening.
    ///
    /// - Parameter port: The port, if the redirect URI fixes it.
    /// - Returns: A listener; end it with `serve` or `close`.
    /// - Throws: `unavailable` if the port is taken.
    package static func open(port: Int?) async throws(OAuthError) -> LoopbackListener {
        for _ in 0..<(port == nil ? attempts : 1) {
            guard let first = try? await bind("127.0.0.1", port ?? 0), let actual = first.channel.localAddress?.port
            else { break }
            do {
                return LoopbackListener(servers: [first, try await bind("::1", actual)], port: actual)
            } catch let error as IOError where error.errnoCode == EADDRINUSE || error.errnoCode == EACCES {
                try? await first.channel.close()
            } catch {
                return LoopbackListener(servers: [first], port: actual)
            }
        }
        throw OAuthError(
            .unavailable, port.map { "port \($0) of the redirect URI is in use" } ?? "no loopback port can be opened",
            hint: "end the other sign-in, or use the device-code flow")
    }

    private static func bind(_ host: String, _ port: Int) async throws -> Server {
        try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 16)
            // Read nothing until the request is being handled.
            .childChannelOption(.autoRead, value: false)
            .bind(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture { channel }
            }
    }

    /// Closes a listener that wasn't served.
    func close() async {
        for server in servers { try? await server.channel.close() }
    }

    /// Answers requests until the task is cancelled.
    ///
    /// - Parameters:
    ///   - answer: Returns the answer to a request; it may take as long as a sign-in.
    ///   - delivered: Called after an answer has been delivered.
    package func serve<Answer: LoopbackAnswer>(
        answer: @escaping @Sendable (LoopbackRequest) async -> Answer,
        delivered: @escaping @Sendable (Answer) -> Void
    ) async {
        await withDiscardingTaskGroup { group in
            for server in servers {
                group.addTask {
                    try? await server.executeThenClose { connections in
                        try await withThrowingDiscardingTaskGroup { inner in
                            for try await channel in connections {
                                inner.addTask { await Self.handle(channel, answer: answer, delivered: delivered) }
                            }
                        }
                    }
                }
            }
        }
    }

    private static func handle<Answer: LoopbackAnswer>(
        _ channel: any Channel, answer: @Sendable (LoopbackRequest) async -> Answer,
        delivered: @Sendable (Answer) -> Void
    ) async {
        var shown: Answer?
        // Check before reading the request: if the peer disconnects later, it can't be told apart from another user's.
        let isWelcome = await LoopbackPeer.find(channel)?.mayAnswer(to: getuid()) ?? true
        try? await connection(over: channel).executeThenClose { inbound, outbound in
            let request = try await withDeadline(readLimit) { try await read(inbound) }
            guard let request else { return }
            let given = isWelcome ? await answer(request) : .otherUser
            try await write(given, to: outbound, withBody: request.method != .HEAD)
            shown = given
        }
        if let shown { delivered(shown) }
    }

    /// Starts reading from a channel.
    private static func connection(over channel: any Channel) async throws -> Connection {
        try await channel.eventLoop.submit {
            try channel.pipeline.syncOperations.configureHTTPServerPipeline()
            let connection = try Connection(wrappingChannelSynchronously: channel)
            try channel.syncOptions?.setOption(.autoRead, value: true)
            return connection
        }.get()
    }

    private static func read(
        _ inbound: NIOAsyncChannelInboundStream<HTTPServerRequestPart>
    ) async throws -> LoopbackRequest? {
        var head: HTTPRequestHead?
        var body: [UInt8] = []
        for try await part in inbound {
            switch part {
            case .head(let part): head = part
            case .body(let part): if body.count <= longestBody { body += part.readableBytesView }
            case .end:
                return head.map { head in
                    let text = body.count <= longestBody ? String(validating: body, as: UTF8.self) : nil
                    return LoopbackRequest(method: head.method, target: head.uri, headers: head.headers, body: text)
                }
            }
        }
        return nil
    }

    private static func write(
        _ answer: some LoopbackAnswer, to outbound: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>,
        withBody: Bool
    ) async throws {
        let body = ByteBuffer(string: answer.content)
        var head = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status))
        for (name, value) in answer.headers { head.headers.add(name: name, value: value) }
        head.headers.add(name: "content-length", value: String(body.readableBytes))
        var parts: [HTTPServerResponsePart] = [.head(head)]
        if withBody { parts.append(.body(.byteBuffer(body))) }
        parts.append(.end(nil))
        try await outbound.write(contentsOf: parts)
    }
}

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
