import AsyncHTTPClient
import AuthorityPlugin
import NIOCore
import NIOHTTP1
import NIOSSL

/// Why no whole answer came, told apart as far as a person can act on it.
enum TransportFailure: Error, Sendable {
    case cancelled
    case timedOut
    case closed
    case tooLarge
    case untrusted
    case proxy
    case unreachable

    /// Sorts what async-http-client throws.
    init(_ error: any Error) {
        switch error {
        case is CancellationError: self = .cancelled
        case is DeadlineExceeded: self = .timedOut
        case is NIOTooManyBytesError: self = .tooLarge
        case NIOSSLError.uncleanShutdown, is HTTPParserError: self = .closed
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: self = .untrusted
        case let error as HTTPClientError: self = Self.sort(error)
        default: self = .unreachable
        }
    }

    private static func sort(_ error: HTTPClientError) -> TransportFailure {
        switch error {
        case .cancelled: .cancelled
        case .connectTimeout, .readTimeout, .writeTimeout, .deadlineExceeded, .getConnectionFromPoolTimeout,
            .tlsHandshakeTimeout, .httpProxyHandshakeTimeout:
            .timedOut
        case .remoteConnectionClosed, .uncleanShutdown: .closed
        case .invalidProxyResponse, .proxyAuthenticationRequired: .proxy
        default: .unreachable
        }
    }

    /// Whether a second attempt may do better.
    var isWorthRetrying: Bool {
        switch self {
        case .timedOut, .closed: true
        case .cancelled, .tooLarge, .untrusted, .proxy, .unreachable: false
        }
    }

    /// The same for the host.
    func pluginError(host: String) -> PluginError {
        switch self {
        case .cancelled: PluginError(.cancelled, "the sign-in was ended")
        case .timedOut: PluginError(.unavailable, "\(host) did not answer in time", hint: "check the network")
        case .closed: PluginError(.unavailable, "\(host) closed the connection before its answer was complete")
        case .tooLarge: PluginError(.unavailable, "\(host) answered with more than an authority has to say")
        case .untrusted:
            PluginError(
                .unavailable, "the certificate of \(host) is not trusted",
                hint: "if your network has a certificate authority of its own, name its file "
                    + "above the first [[rule]] of ~/.config/lanyard/config.toml: ca-file = \"/PATH/ca.pem\"")
        case .proxy:
            PluginError(.unavailable, "the proxy refused to connect to \(host)", hint: "check https_proxy and no_proxy")
        case .unreachable: PluginError(.unavailable, "cannot reach \(host)", hint: "check the network and https_proxy")
        }
    }
}
