import Synchronization

/// The HTTP clients of a transport, which look up the system's certificates by hash until one isn't found that way.
///
/// Reading the whole bundle takes most of the time before a renewal's request is sent, and hardly any authority needs
/// it.
final class Connections: Sendable {
    private let roots: TrustRoots
    private let settings: ProxySettings
    private let limits: Transport.Limits
    private let quick: Clients?
    /// The clients that trust every certificate of the system, once they were needed.
    private let opened = Mutex<Clients?>(nil)

    /// Creates the first clients; end all of them with `close`.
    ///
    /// - Throws: `invalidRequest` if a certificate file or the proxy's name can't be used.
    init(_ settings: Transport.Settings) throws(OAuthError) {
        let roots = try TrustRoots(
            caFile: settings.caFile, environment: settings.environment, system: settings.systemCertificates)
        let proxies = try ProxySettings(environment: settings.environment)
        quick = roots.quickConfiguration.map { Clients($0, isQuick: true, proxies, limits: settings.limits) }
        limits = settings.limits
        self.roots = roots
        self.settings = proxies
    }

    /// The clients to use first.
    var first: Clients { opened.withLock { $0 == nil ? quick : nil } ?? whole }

    /// Returns clients that trust every certificate of the system; nil if it was those that failed.
    ///
    /// From then on, they are used first.
    func whole(after failed: Clients) -> Clients? { failed.isQuick ? whole : nil }

    private var whole: Clients {
        opened.withLock { opened in
            if let whole = opened { return whole }
            let whole = Clients(roots.configuration, settings, limits: limits)
            opened = whole
            return whole
        }
    }

    /// Closes the clients without waiting.
    func close() {
        quick?.close()
        opened.withLock { $0?.close() }
    }
}
