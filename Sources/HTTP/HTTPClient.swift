package import Addresses
import CCurl

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
    ) throws(NetworkSettingsProblem) {
        (self.userAgent, self.settings, self.limits) = (userAgent, settings, limits)
        do throws(CertificateFileProblem) { identity = .trusted(try TrustAnchors(settings)) } catch {
            throw .certificates(error)
        }
        do throws(UnknownProxy) {
            proxies = try ProxySettings(environment: settings.environment, setting: settings.proxy)
        } catch {
            throw .proxy(error)
        }
    }

    /// Creates a client for one server on this machine, or one hop away: no proxy is used.
    package init(userAgent: String, _ identity: ServerIdentity, limits: Limits = Limits()) {
        (self.userAgent, self.identity, self.limits) = (userAgent, identity, limits)
        (settings, proxies) = (NetworkSettings(environment: [:]), .none)
    }

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
            curl_version_info(0).pointee.features & method.feature != method.feature
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
            let (seen, isNamed) = await Transfer(looking: request.url, self, last, until: end).certificate()
        {
            failure.reason = .certificate((isNamed ? problem : .otherName([])).detailed(by: seen))
        }
        throw failure
    }

    /// Looks at the server's certificate on a connection before that of the request, for a libcurl that can't be stopped later.
    private func checkBefore(_ request: HTTPRequest, until end: ContinuousClock.Instant) async throws(HTTPError) {
        switch identity {
        case .anyone: return
        case .pinned: throw HTTPError(.library("a certificate that is known by its hash needs version 7.80 or later"))
        case .trusted(let anchors):
            let source = anchors.sources(readsFolders: false).last?()
            let seen = await Transfer(looking: request.url, self, source, until: end).certificate()
            if let (certificate, isNamed) = seen, !isNamed {
                throw HTTPError(.certificate(.otherName(certificate.names)))
            }
        }
    }
}

/// A setting can't be used.
package enum NetworkSettingsProblem: Error, Sendable {
    case certificates(CertificateFileProblem)
    case proxy(UnknownProxy)
}
