import Addresses
import AsyncHTTPClient
import NIOCore
import NIOPosix
import NIOSSL

/// The HTTP clients for one request to a plugin: one connects directly, one through the proxy.
struct Clients: Sendable {
    /// How long an idle connection is kept: a connection that died during the sign-in must not be used to send the
    /// code.
    private static let idle = TimeAmount.seconds(15)

    /// Whether they look up certificates individually by hash.
    let isQuick: Bool
    private let configuration: HTTPClient.Configuration
    private let direct: HTTPClient
    private let proxied: HTTPClient?
    private let settings: ProxySettings

    /// Creates the clients; end them with `close`.
    init(_ tls: TLSConfiguration, isQuick: Bool = false, _ settings: ProxySettings, limits: Transport.Limits) {
        self.isQuick = isQuick
        self.settings = settings
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: .init(connect: limits.connect.timeAmount, read: limits.whole.timeAmount))
        configuration.httpVersion = .http1Only
        // Never ask a name server (RFC 6761, 6.3): one that doesn't know the name can take seconds.
        configuration.dnsOverride = ["localhost": "127.0.0.1"]
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.idleTimeout = Self.idle
        // The hook runs before a connection's first request.
        configuration.http1_1ConnectionDebugInitializer = { ConnectionGuard.install(in: $0, for: .protect) }
        self.configuration = configuration
        direct = Self.client(configuration, nil)
        proxied = settings.proxy.map { Self.client(configuration, $0) }
    }

    private static func client(
        _ configuration: HTTPClient.Configuration, _ proxy: HTTPClient.Configuration.Proxy?
    ) -> HTTPClient {
        var configuration = configuration
        configuration.proxy = proxy
        // The proxy gets the name, and looks it up itself.
        if proxy != nil { configuration.dnsOverride = [:] }
        return HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
    }

    /// Closes the clients without waiting: closing a TLS connection to an unresponsive peer takes seconds.
    func close() {
        Task {
            try? await direct.shutdown()
            try? await proxied?.shutdown()
        }
    }

    func client(for url: String) -> HTTPClient {
        isProxied(url) ? proxied ?? direct : direct
    }

    /// Returns the proxy for a URL as `HOST:PORT`; nil for none.
    func proxy(for url: String) -> String? {
        isProxied(url) ? settings.name : nil
    }

    private func isProxied(_ url: String) -> Bool {
        guard proxied != nil, let host = StrictURL(https: url)?.host else { return false }
        return !settings.excepts(host: host.withoutAnyPort.text, port: host.port ?? 443)
    }

    /// Determines why the certificate at a URL isn't trusted, which the TLS library doesn't report.
    ///
    /// It opens a separate connection to inspect the certificate and sends nothing over it.
    func fault(at text: String, within limit: Duration) async -> CertificateFault {
        guard let url = StrictURL(https: text) else { return .unknown }
        var configuration = configuration
        configuration.tlsConfiguration?.certificateVerification = .none
        configuration.http1_1ConnectionDebugInitializer = { ConnectionGuard.install(in: $0, for: .lookAtCertificate) }
        let client = Self.client(configuration, isProxied(text) ? settings.proxy : nil)
        defer { Task { try? await client.shutdown() } }
        do {
            _ = try await withDeadline(limit) {
                let request = HTTPClientRequest(url: "https://\(url.hostText)/")
                return try await client.execute(request, timeout: limit.timeAmount)
            }
        } catch let seen as CertificateSeen {
            return CertificateFault(seen.certificate, host: url.host.withoutAnyPort.text)
        } catch {}
        return .unknown
    }
}
