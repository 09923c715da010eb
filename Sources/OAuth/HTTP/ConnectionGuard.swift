import NIOCore
import NIOHTTP1
import NIOSSL

/// Stands between HTTP and TLS on a connection to an authority, or to a service of the machine's platform.
///
/// No byte of a request passes before the certificate is known to be one that the request may go to. An answer that
/// async-http-client would end the process over doesn't pass either.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// Which requests may pass.
    enum Duty: Sendable {
        /// Those to a host that the certificate names.
        case protect
        /// None: the request fails with the certificate.
        case lookAtCertificate
        /// Those to whoever has the pinned certificate, whatever names it has.
        case pin(CertificatePin)
        /// All, also without TLS.
        case bare
    }

    private let duty: Duty
    private var refusal: (any Error)?

    private init(_ duty: Duty) {
        self.duty = duty
    }

    /// Puts a guard into a connection of async-http-client's that has had no request yet.
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

    /// Ends the connection if the request may not pass.
    ///
    /// Not before the handler whose write this is has returned: it doesn't expect to lose its request in the middle of it.
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
        let host = head.headers["host"].first.flatMap { try? HTTPSAddress("https://\($0)") }?.host
        return switch duty {
        case .lookAtCertificate: CertificateSeen(certificate: certificate)
        case .protect: host.map(certificate.names) == true ? nil : CertificateForAnotherName(names: certificate.names)
        case .pin(let pin): pin.matches(certificate) ? nil : CertificateNotPinned()
        case .bare: nil
        }
    }
}

/// The certificate at the other end is not the asked host's.
struct CertificateForAnotherName: Error, Sendable {
    let names: [String]
}

/// The certificate at the other end is not the one that was named beforehand.
struct CertificateNotPinned: Error, Sendable {}

/// What a connection that was only made to look at the certificate ends with.
struct CertificateSeen: Error, Sendable {
    let certificate: NIOSSLCertificate
}
