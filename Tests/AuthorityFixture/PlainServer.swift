import NIOCore
import NIOPosix
import Synchronization

/// An HTTP server on 127.0.0.1, without TLS, with the test's answers.
public final class PlainServer: Sendable {
    private let log: TLSServer.Log
    private let channel: any Channel

    /// The port of the server.
    public var port: Int { channel.localAddress?.port ?? 0 }
    /// The URL of the server, without a path.
    public var url: String { "http://127.0.0.1:\(port)" }
    /// The received requests, as text.
    public var requests: [String] { log.texts.withLock { $0 } }

    /// Runs the body with a server.
    public static func run(
        _ behaviour: @escaping @Sendable (String) -> TLSServer.Behaviour, _ body: (PlainServer) async throws -> Void
    ) async throws {
        let server = try await PlainServer(behaviour)
        do { try await body(server) } catch {
            try await server.channel.close()
            throw error
        }
        try await server.channel.close()
    }

    private init(_ behaviour: @escaping @Sendable (String) -> TLSServer.Behaviour) async throws {
        let log = TLSServer.Log()
        self.log = log
        channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(TLSServer.Answerer(log, behaviour))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }
}
