import Synchronization

/// The clients of a transport, which look the system's certificates up by their hashes until one isn't found so.
///
/// Reading the bundle of all is most of what a renewal costs before its request is sent, and hardly any authority needs it.
final class Connections: Sendable {
    private struct Opened: Sendable {
        var quick: Clients?
        var whole: Clients?
    }

    private let roots: TrustRoots
    private let settings: ProxySettings
    private let limits: Transport.Limits
    private let opened: Mutex<Opened>

    /// Makes the first clients; `close` ends all.
    ///
    /// - Throws: `invalidRequest` if a file of certificates or the proxy's name can't be used.
    init(_ settings: Transport.Settings) throws(OAuthError) {
        let roots = try TrustRoots(
            caFile: settings.caFile, environment: settings.environment, system: settings.systemCertificates)
        let proxies = try ProxySettings(environment: settings.environment)
        let quick = roots.quickConfiguration.map { Clients($0, isQuick: true, proxies, limits: settings.limits) }
        opened = Mutex(Opened(quick: quick))
        limits = settings.limits
        self.roots = roots
        self.settings = proxies
    }

    /// The clients to ask first.
    var first: Clients { opened.withLock { $0.whole == nil ? $0.quick : nil } ?? whole }

    /// Clients that trust every certificate of the system; nil if it was those that didn't trust one.
    ///
    /// From then on they are asked first.
    func whole(after failed: Clients) -> Clients? { failed.isQuick ? whole : nil }

    private var whole: Clients {
        opened.withLock { opened in
            if let whole = opened.whole { return whole }
            let whole = Clients(roots.configuration, settings, limits: limits)
            opened.whole = whole
            return whole
        }
    }

    /// Ends the clients, without waiting.
    func close() {
        opened.withLock { opened in
            opened.quick?.close()
            opened.whole?.close()
        }
    }
}
