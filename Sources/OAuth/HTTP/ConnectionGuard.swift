import Addresses
import NIOCore
import NIOHTTP1
import NIOSSL

/// A channel handler between HTTP and TLS on a connection to an authority or to a service of the machine's platform.
///
/// It holds back every byte of a request until the certificate has proved to be acceptable for it. It also stops
/// answers that would make async-http-client crash.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// The requests that may pass.
    enum Duty: Sendable {
        /// Requests to a host that the certificate names.
        case protect
        /// None: the request fails with the certificate.
        case lookAtCertificate
        /// Requests to a server with the pinned certificate, whatever names it has.
        case pin(CertificatePin)
        /// All requests, even without TLS.
        case bare
    }

    private let duty: Duty
    private var refusal: (any Error)?

    private init(_ duty: Duty) {
        self.duty = duty
    }

    /// Adds a guard to a connection of async-http-client that hasn't sent a request yet.
    static func install(in channel: any Channel, for duty: Duty) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
            try pipeline.addHandler(ConnectionGuard(duty), position: .after(decoder))
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .head(let head) = unwrapOutboundIn(data), refusal == nil { refuse(head, context: context) }
        if let refusal { promise?.fail(refusal) } else { context.write(data, promise: promise) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data), head.status.code < 100 {
            context.fireErrorCaught(HTTPParserError.invalidStatus)
            context.close(promise: nil)
        } else {
            context.fireChannelRead(data)
        }
    }

    /// Closes the connection if the request may not pass.
    ///
    /// It waits until the handler that is writing the request has returned, because that handler doesn't expect to lose
    /// its request in the meantime.
    private func refuse(_ head: HTTPRequestHead, context: ChannelHandlerContext) {
        guard let error = objection(to: head, context: context) else { return }
        refusal = error
        let context = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.value.eventLoop.execute {
            context.value.fireErrorCaught(error)
            context.value.close(promise: nil)
        }
    }

    private func objection(to head: HTTPRequestHead, context: ChannelHandlerContext) -> (any Error)? {
        if case .bare = duty { return nil }
        guard let certificate = try? context.pipeline.syncOperations.nioSSL_peerCertificate() else {
            return NIOSSLError.noCertificateToValidate
        }
        let host = head.headers["host"].first.flatMap { RequestHost($0) }?.withoutAnyPort.text
        return switch duty {
        case .lookAtCertificate: CertificateSeen(certificate: certificate)
        case .protect: host.map(certificate.names) == true ? nil : CertificateForAnotherName(names: certificate.names)
        case .pin(let pin): pin.matches(certificate) ? nil : CertificateNotPinned()
        case .bare: nil
        }
    }
}

/// The server's certificate isn't for the requested host.
struct CertificateForAnotherName: Error, Sendable {
    let names: [String]
}

/// The server's certificate isn't the pinned one.
struct CertificateNotPinned: Error, Sendable {}

/// The error that ends a connection made only to inspect the certificate.
struct CertificateSeen: Error, Sendable {
    let certificate: NIOSSLCertificate
}
