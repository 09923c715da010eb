public import Crypto
public import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import SwiftASN1
import Synchronization
public import X509

/// A TLS server on 127.0.0.1 with the test's certificate and answers.
///
/// The certificate is self-signed, so a client that trusts the file trusts exactly this certificate.
public final class TLSServer: Sendable {
    /// The contents of the certificate.
    public struct Identity: Sendable {
        var names: [GeneralName]
        /// The start of the certificate's validity.
        public var notValidBefore = Date.now.addingTimeInterval(-3_600)
        /// The end of the certificate's validity.
        public var notValidAfter = Date.now.addingTimeInterval(3_600)
        /// The subject's common name; nil for one of its own.
        public var commonName: String?
        /// The only TLS that the server has; nil for what is usual.
        public var security: Security?

        /// Creates an identity with these names, valid for an hour.
        public init(_ names: GeneralName...) { self.names = names }

        /// Creates an identity with these names, valid for an hour.
        public init(_ names: [GeneralName]) { self.names = names }

        /// Returns a host's identity, valid for an hour.
        public static func host(_ name: String) -> Identity { Identity(.dnsName(name)) }
    }

    /// A version of TLS.
    public enum Security: Sendable, CaseIterable {
        case tls10
        case tls11
        /// TLS 1.2 with CBC, whose encryption isn't authenticated.
        case tls12WithCBC
        case tls12
        case tls13

        fileprivate func apply(to configuration: inout TLSConfiguration) {
            let version: TLSVersion =
                switch self {
                case .tls10: .tlsv1
                case .tls11: .tlsv11
                case .tls12, .tls12WithCBC: .tlsv12
                case .tls13: .tlsv13
                }
            configuration.minimumTLSVersion = version
            configuration.maximumTLSVersion = version
            if self == .tls12WithCBC { configuration.cipherSuiteValues = [.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA] }
        }
    }

    /// The server's reaction to a request.
    public enum Behaviour: Sendable {
        /// Answers with this text.
        case answer(String)
        /// Closes the connection, either with a reset or without TLS's closing message.
        case drop(byReset: Bool)
        /// Never answers.
        case silence
    }

    private let log = Log()
    private let channel: any Channel
    private let directory: URL

    /// The file with the certificate.
    public var caFile: String { directory.appending(path: "ca.pem").path }
    /// The port of the server.
    public var port: Int { channel.localAddress?.port ?? 0 }
    /// The received requests, as text.
    public var requests: [String] { log.texts.withLock { $0 } }

    /// Runs the body with a server.
    public static func run(
        _ identity: Identity,
        _ behaviour: @escaping @Sendable (String) -> Behaviour = { _ in TLSServer.nothingHere },
        _ body: (TLSServer) async throws -> Void
    ) async throws {
        // If a client trusts several servers, their certificates are told apart by their subjects.
        let (certificate, key) = try certificate(
            identity, subject: identity.commonName ?? "localhost \(UUID().uuidString)")
        let server = try await TLSServer(certificate, key, identity.security, behaviour)
        do { try await body(server) } catch {
            try await server.stop()
            throw error
        }
        try await server.stop()
    }

    /// Creates a self-signed certificate and its key.
    public static func certificate(
        _ identity: Identity, subject: String = "localhost"
    ) throws -> (Certificate, P256.Signing.PrivateKey) {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName(subject) }
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
            notValidBefore: identity.notValidBefore, notValidAfter: identity.notValidAfter, issuer: name, subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                if !identity.names.isEmpty { SubjectAlternativeNames(identity.names) }
            },
            issuerPrivateKey: .init(key))
        return (certificate, key)
    }

    private init(
        _ certificate: Certificate, _ key: P256.Signing.PrivateKey, _ security: Security?,
        _ behaviour: @escaping @Sendable (String) -> Behaviour
    ) async throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let pem = try certificate.serializeAsPEM().pemString
        try Data((pem + "\n").utf8).write(to: directory.appending(path: "ca.pem"))
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: [UInt8](pem.utf8), format: .pem))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: [UInt8](key.pemRepresentation.utf8), format: .pem)))
        security?.apply(to: &configuration)
        let context = try NIOSSLContext(configuration: configuration)
        let log = log
        channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOSSLServerHandler(context: context), Answerer(log, behaviour))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    /// An answer with status 404.
    public static let nothingHere = Behaviour.answer("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")

    private func stop() async throws {
        try await channel.close()
        try FileManager.default.removeItem(at: directory)
    }

    final class Log: Sendable {
        let texts = Mutex<[String]>([])
    }

    /// Reads whole requests, and reacts to each as the test wants.
    final class Answerer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let log: Log
        private let behaviour: @Sendable (String) -> Behaviour
        private var text = ""

        init(_ log: Log, _ behaviour: @escaping @Sendable (String) -> Behaviour) {
            self.log = log
            self.behaviour = behaviour
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            text += String(buffer: unwrapInboundIn(data))
            guard isWhole else { return }
            let request = text
            text = ""
            log.texts.withLock { $0.append(request) }
            switch behaviour(request) {
            case .answer(let answer):
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
            case .drop(let byReset):
                drop(byReset: byReset, context: context)
            case .silence: break
            }
        }

        private var isWhole: Bool {
            guard let end = text.range(of: "\r\n\r\n") else { return false }
            let length = text[..<end.lowerBound].lowercased().split(separator: "content-length: ").dropFirst().first
            let expected = length.flatMap { Int($0.prefix { $0.isNumber }) } ?? 0
            return text[end.upperBound...].utf8.count >= expected
        }

        /// Closes the connection below TLS, which would send a closing message.
        private func drop(byReset: Bool, context: ChannelHandlerContext) {
            let option = linger(l_onoff: byReset ? 1 : 0, l_linger: 0)
            _ = (context.channel as? any SocketOptionProvider)?.setSoLinger(option)
            let tls = try? context.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
            tls?.close(promise: nil)
        }
    }
}
