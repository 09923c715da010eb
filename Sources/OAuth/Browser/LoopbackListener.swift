import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix

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
