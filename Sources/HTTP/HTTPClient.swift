package import Addresses
import CCurl
import Dispatch

/// HTTPS by libcurl, git's own engine: one connection for each request, never redirected, without cookies and netrc.
///
/// Certificates are always verified, TLS is 1.2 or later, and time and size are bounded. A handle is used once: most of
/// libcurl's advisories are about what a handle or a connection keeps for its next use.
package struct HTTPClient: Sendable {
    /// What a request may take and get.
    package struct Limits: Sendable {
        /// The time to connect, TLS and a proxy included.
        package var connect = Duration.seconds(10)
        /// The bytes of all heads of an answer: those of a proxy, and of provisional answers, too.
        package var head = 256 << 10
        /// The bytes of a body.
        package var body = 1 << 20

        /// Creates the default limits.
        package init() {}
    }

    /// Whom a server has to be.
    package enum ServerIdentity: Sendable {
        /// Its certificate is for the URL's host, and a trust anchor vouches for it.
        case trusted(TrustAnchors)
        /// Its certificate is this one, whatever else it says.
        case pinned(CertificatePin)
        /// The URL is `http`: a service of the machine's own platform, for whose address no certificate exists.
        case anyone
    }

    /// What is sent along with every request (RFC 9110, 10.1.5).
    let userAgent: String
    let identity: ServerIdentity
    let limits: Limits
    let settings: NetworkSettings
    let proxies: ProxySettings

    /// Creates a client for servers on the network.
    package init(
        userAgent: String, _ settings: NetworkSettings, limits: Limits = Limits()
    ) throws(NetworkSettingsError) {
        (self.userAgent, self.settings, self.limits) = (userAgent, settings, limits)
        identity = .trusted(try TrustAnchors(settings))
        proxies = try ProxySettings(environment: settings.environment, setting: settings.proxy)
    }

    /// Creates a client for one server on this machine, or one hop away: no proxy is used.
    package init(userAgent: String, _ identity: ServerIdentity, limits: Limits = Limits()) {
        (self.userAgent, self.identity, self.limits) = (userAgent, identity, limits)
        (settings, proxies) = (NetworkSettings(environment: [:]), .none)
    }

    /// Begins to load libcurl, which takes longer than most of what a program does before its first request.
    package static func prepare() { DispatchQueue.global().async { _ = lanyard_curl_open() } }

    /// Returns the proxy for a URL; nil for none.
    package func proxy(for url: String) -> ProxyURL? {
        StrictURL(https: url).flatMap { proxies.proxy(for: $0.host.withoutAnyPort.text) }
    }

    /// Sends a request once.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - limit: The time until the answer is complete.
    /// - Returns: The answer, whatever its status.
    /// - Throws: why there is no complete answer.
    package func send(_ request: HTTPRequest, within limit: Duration) async throws(HTTPError) -> HTTPAnswer {
        if let problem = lanyard_curl_open() { throw HTTPError(.library(String(cString: problem))) }
        if let method = settings.proxyAuthentication, proxy(for: request.url) != nil,
            curl_version_info(0).pointee.features & method.bits.feature != method.bits.feature
        {
            throw HTTPError(.lacking(method))
        }
        let end = ContinuousClock.now + limit
        if !Transfer.canCheck { try await checkBefore(request, until: end) }
        guard case .trusted(let anchors) = identity else {
            return try await Transfer(request, self, nil, until: end).result().get()
        }
        var failure = HTTPError(.certificate(.unknownIssuer))
        var last: TrustAnchors.Source?
        // Most certificates are found by their hash; reading all takes longer than everything else of a request.
        for source in anchors.sources(readsFolders: !Transfer.usesGnuTLS) {
            last = source()
            switch await Transfer(request, self, last, until: end).result() {
            case .success(let answer): return answer
            case .failure(let error): failure = error
            }
            guard case .certificate(.unknownIssuer) = failure.reason else { break }
        }
        // Why is told by the certificate: what libcurl says of it depends on who made its TLS.
        if case .certificate(let problem) = failure.reason, !failure.isOfProxy,
            let (seen, isNamed) = await Transfer(request, self, last, until: end, onlyLooks: true).certificate()
        {
            failure.reason = .certificate((isNamed ? problem : .otherName([])).detailed(by: seen))
        }
        throw failure
    }

    /// Looks at the server's certificate on a connection before that of the request, for a libcurl that can't be stopped later.
    private func checkBefore(_ request: HTTPRequest, until end: ContinuousClock.Instant) async throws(HTTPError) {
        if case .pinned = identity {
            throw HTTPError(.library("a certificate that is known by its hash needs version 7.80 or later"))
        }
        guard case .trusted(let anchors) = identity,
            let (certificate, isNamed) = await Transfer(
                request, self, anchors.sources(readsFolders: false).last?(), until: end, onlyLooks: true
            ).certificate(), !isNamed
        else { return }
        throw HTTPError(.certificate(.otherName(certificate.names)))
    }
}
