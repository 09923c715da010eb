import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Why there is no complete answer, distinguished as far as the user can act on it.
enum TransportFailure: Error, Sendable, Equatable {
    case cancelled
    /// The connection was established, but no data arrived.
    case timedOut
    case closed
    case tooLarge
    /// The answer isn't HTTP.
    case garbled
    /// The certificate isn't trusted.
    case distrusted(CertificateFault)
    /// The server doesn't use TLS.
    case withoutTLS
    /// The server has no version or cipher suite of TLS that is still safe.
    case outdatedTLS
    /// The proxy is reachable, but doesn't connect to the host.
    case refusedByProxy
    case proxyWantsPassword
    case unreachable(Obstacle)

    /// Why there is no connection.
    enum Obstacle: Sendable, Equatable {
        case unknownName
        case lookupFailed
        case refused
        case noRoute
        case timedOut
        /// Another error with the system's description, or nil.
        case other(String?)
    }

    /// Classifies an error of async-http-client.
    init(_ error: any Error) {
        switch error {
        case is CancellationError: self = .cancelled
        case is DeadlineExceeded: self = .timedOut
        case is NIOTooManyBytesError: self = .tooLarge
        case HTTPParserError.invalidEOFState, NIOSSLError.uncleanShutdown, ChannelError.ioOnClosedChannel,
            ChannelError.eof, ChannelError.inputClosed, ChannelError.outputClosed:
            self = .closed
        case is HTTPParserError: self = .garbled
        case let error as CertificateForAnotherName: self = .distrusted(.otherName(error.names))
        case NIOSSLError.handshakeFailed(let error): self = Self.sort(error)
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: self = .distrusted(.unknown)
        case let error as HTTPClientError: self = Self.sort(error)
        case let error as NIOConnectionError: self = .unreachable(Obstacle(error))
        // Before there is a connection, the errors are "connection refused" and the like; later, a reset.
        case let error as IOError where [ECONNRESET, EPIPE].contains(error.errnoCode): self = .closed
        default: self = .unreachable(Obstacle(error))
        }
    }

    private static func sort(_ error: HTTPClientError) -> TransportFailure {
        switch error {
        case .cancelled: .cancelled
        case .connectTimeout: .unreachable(.timedOut)
        case .readTimeout, .writeTimeout, .deadlineExceeded, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout,
            .httpProxyHandshakeTimeout:
            .timedOut
        case .remoteConnectionClosed, .uncleanShutdown: .closed
        case .invalidProxyResponse: .refusedByProxy
        case .proxyAuthenticationRequired: .proxyWantsPassword
        default: .unreachable(.other(nil))
        }
    }

    private static func sort(_ error: BoringSSLError) -> TransportFailure {
        guard case .sslError(let stack) = error else { return .closed }
        let words = stack.map(\.description).joined()
        // BoringSSL offers no other way to distinguish them.
        if words.contains("CERTIFICATE_VERIFY_FAILED") { return .distrusted(.unknown) }
        if words.contains("WRONG_VERSION_NUMBER") || words.contains("HTTP_REQUEST") { return .withoutTLS }
        return outdated.contains(where: words.contains) ? .outdatedTLS : .closed
    }

    /// The server chose a version that wasn't offered, or says that it has none, or no cipher suite, in common.
    private static let outdated = [
        "UNSUPPORTED_PROTOCOL", "ALERT_PROTOCOL_VERSION", "ALERT_INSUFFICIENT_SECURITY", "ALERT_HANDSHAKE_FAILURE",
    ]

    /// Whether a second attempt may succeed.
    var isWorthRetrying: Bool { [.timedOut, .closed, .unreachable(.timedOut)].contains(self) }

    /// Returns this failure as an error that names the host.
    ///
    /// - Parameters:
    ///   - host: The authority's host.
    ///   - proxy: The proxy that was used, as `HOST:PORT`; nil if none was.
    /// - Returns: An error that states the cause.
    func oauthError(host: String, proxy: String?) -> OAuthError {
        let way = proxy.map { " through the proxy \($0)" } ?? ""
        return switch self {
        case .cancelled: .ended
        case .timedOut: OAuthError(.unavailable, "\(host) did not answer in time\(way)", hint: "check the network")
        case .closed: OAuthError(.unavailable, "\(host) closed the connection before its answer was complete")
        case .tooLarge: OAuthError(.unavailable, "\(host) sent an answer that is too long")
        case .garbled: .unreadable(from: host, not: "HTTP")
        case .distrusted(let fault): fault.oauthError(host: host)
        case .withoutTLS:
            OAuthError(
                .unavailable, "\(host) does not speak TLS at this port",
                hint: "check the authority's URL, and that no network sign-in page is in between")
        case .outdatedTLS:
            OAuthError(
                .unavailable, "\(host) offers only encryption that is no longer safe, so nothing was sent to it\(way)",
                hint: "its administrator has to enable TLS 1.3, or TLS 1.2 with ECDHE and AES-GCM or ChaCha20")
        case .refusedByProxy:
            OAuthError(
                .unavailable, "the proxy \(proxy ?? "") refused to connect to \(host)",
                hint: "check https_proxy and no_proxy")
        case .proxyWantsPassword:
            OAuthError(
                .unavailable, "the proxy \(proxy ?? "") asks for a user name and password, or refuses those given",
                hint: "set https_proxy to http://USER:PASSWORD@HOST:PORT")
        case .unreachable(let obstacle): obstacle.oauthError(host: host, proxy: proxy)
        }
    }
}

extension TransportFailure.Obstacle {
    fileprivate init(_ error: NIOConnectionError) {
        // A name may have addresses of one family only; its connection errors take precedence over look-up errors.
        let cause = error.connectionErrors.first?.error ?? error.dnsAError ?? error.dnsAAAAError
        self = cause.map { .init($0) } ?? .other(nil)
    }

    fileprivate init(_ error: any Error) {
        switch error {
        case ChannelError.connectTimeout: self = .timedOut
        case let error as SocketAddressError.UnknownHost:
            self = Self.noSuchName.contains(error.errorCode) ? .unknownName : .lookupFailed
        case let error as IOError:
            switch error.errnoCode {
            case ECONNREFUSED: self = .refused
            case ETIMEDOUT: self = .timedOut
            case EHOSTUNREACH, ENETUNREACH, ENETDOWN, EADDRNOTAVAIL: self = .noRoute
            default: self = .other(String(cString: strerror(error.errnoCode)))
            }
        default: self = .other(nil)
        }
    }

    /// EAI_NONAME, and EAI_NODATA, which glibc's header doesn't expose.
    private static let noSuchName = [Int(EAI_NONAME), -5]

    private var words: String {
        switch self {
        case .unknownName: ": no such host"
        case .lookupFailed: ": its name can't be looked up"
        case .refused: ": connection refused"
        case .noRoute: ": no route to it"
        case .timedOut: ": the connection timed out"
        case .other(let words): words.map { ": \($0)" } ?? ""
        }
    }

    fileprivate func oauthError(host: String, proxy: String?) -> OAuthError {
        if let proxy {
            return OAuthError(
                .unavailable, "cannot reach \(host): no connection to the proxy \(proxy)\(words)",
                hint: "check https_proxy and no_proxy")
        }
        let hint = self == .unknownName ? "check the authority's name and the network" : "check the network"
        return OAuthError(.unavailable, "cannot reach \(host)\(words)", hint: hint)
    }
}
