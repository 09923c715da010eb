import Addresses
import CCurl
import Dispatch
import Glibc
import Secrets
import Synchronization

/// One request by libcurl, on a handle and a connection of its own.
final class Transfer: @unchecked Sendable {
    private static let ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20"

    private let client: HTTPClient
    private let proxy: ProxyURL?
    private let host: String
    private let source: TrustAnchors.Source?
    private let easy: UnsafeMutableRawPointer?
    private let multi: UnsafeMutableRawPointer?
    private let end: ContinuousClock.Instant
    private let isCancelled = Atomic(false)

    // What follows belongs to the thread that runs the transfer.
    private var list: UnsafeMutablePointer<curl_slist>?
    private let words: UnsafeMutablePointer<CChar>
    private var content: [UInt8] = []
    private var isInvalid = false
    private var head = HTTPHead()
    private var body: [UInt8] = []
    private var isTooLarge = false
    /// Whether the connection was found good, and the request is sent from then on.
    private var isSent = false
    private var problem: CertificateDefect?

    /// Prepares a request, or only a look at the certificate of the server that it is for, which nothing is sent to.
    init(
        _ request: HTTPRequest, _ client: HTTPClient, _ source: TrustAnchors.Source?,
        until end: ContinuousClock.Instant, onlyLooks: Bool = false
    ) {
        (self.client, self.source, self.end) = (client, source, end)
        (proxy, host) = (client.proxy(for: request.url), StrictURL(request.url)?.host.name ?? "")
        easy = curl_easy_init()
        multi = curl_multi_init()
        words = .allocate(capacity: 256)
        words.initialize(repeating: 0, count: 256)
        prepareConnection(to: request.url, onlyLooks: onlyLooks)
        if onlyLooks { set(CURLOPT_CONNECT_ONLY, 1) } else { prepare(request) }
    }

    deinit {
        curl_slist_free_all(list)
        curl_easy_cleanup(easy)
        curl_multi_cleanup(multi)
        words.deallocate()
    }

    /// Runs the transfer.
    func result() async -> Result<HTTPAnswer, HTTPError> {
        let code = await run()
        if let code, code == 0, let status = head.status, status >= 200, head.isComplete, !isInvalid {
            return .success(HTTPAnswer(status: status, headers: head.fields, body: body))
        }
        var error = HTTPError(
            reason(code), proxy: proxy?.text, proxySource: client.proxies.source,
            mayHaveArrived: isSent || !Self.canCheck && isConnected)
        if let code { error.isOfProxy = proxy != nil && isFailure(code, ofProxy: error.reason) }
        return .failure(error)
    }

    /// Connects, and returns the server's certificate, and whether it is for the URL's host; nil if there is none.
    func certificate() async -> (Certificate, isNamed: Bool)? {
        let code = await run()
        return firstCertificate().map { ($0, code != 60 && $0.isFor(host)) }
    }

    // MARK: - Options

    private func prepareConnection(to url: String, onlyLooks: Bool) {
        set(CURLOPT_URL, url)
        // HTTPS, or HTTP to a service of the machine.
        if case .anyone = client.identity { set(CURLOPT_PROTOCOLS, 1) } else { set(CURLOPT_PROTOCOLS, 2) }
        set(CURLOPT_HTTP_VERSION, 2)
        for option in [CURLOPT_FOLLOWLOCATION, CURLOPT_NETRC, CURLOPT_SSL_SESSIONID_CACHE] { set(option, 0) }
        // Without CURLOPT_HEADEROPT, what is for the host goes to the proxy, too.
        for option in [
            CURLOPT_NOSIGNAL, CURLOPT_FORBID_REUSE, CURLOPT_SUPPRESS_CONNECT_HEADERS, CURLOPT_HEADEROPT,
            CURLOPT_CERTINFO,
        ] { set(option, 1) }
        // 6 is TLS 1.2 or later, 7 is 1.3.
        set(CURLOPT_SSLVERSION, client.settings.needsTLS13 ? 7 : 6)
        set(CURLOPT_PROXY_SSLVERSION, 6)
        set(CURLOPT_PROXY, proxy?.url ?? "")
        set(CURLOPT_NOPROXY, "")
        if !Self.usesGnuTLS {
            // Of TLS 1.2 only what RFC 9325, 4.2, recommends.
            set(CURLOPT_SSL_CIPHER_LIST, Self.ciphers)
            set(CURLOPT_PROXY_SSL_CIPHER_LIST, Self.ciphers)
        }
        if let proxy, let user = proxy.user {
            set(CURLOPT_PROXYUSERNAME, user)
            set(CURLOPT_PROXYPASSWORD, proxy.password)
            set(CURLOPT_PROXYAUTH, client.settings.proxyAuthentication?.bits.option ?? ProxyAuthentication.all)
        }
        if !onlyLooks, let certificate = client.settings.certificate {
            set(CURLOPT_SSLCERT, certificate)
            set(CURLOPT_SSLKEY, client.settings.certificateKey ?? certificate)
        }
        var isTrusted = false
        if case .trusted = client.identity { isTrusted = true }
        set(CURLOPT_SSL_VERIFYPEER, isTrusted && !onlyLooks ? 1 : 0)
        set(CURLOPT_SSL_VERIFYHOST, isTrusted ? 2 : 0)
        if let source, !onlyLooks {
            set(CURLOPT_CAINFO, source.file)
            set(CURLOPT_CAPATH, source.folder)
        }
        if proxy?.kind == "https", let source {
            set(CURLOPT_PROXY_CAINFO, source.file)
            set(CURLOPT_PROXY_CAPATH, source.folder)
        }
        set(CURLOPT_ERRORBUFFER, words)
        // A hanging name server isn't waited for. Versions before 7.87 don't know it.
        _ = lanyard_curl_set_long(easy, CInt(CURLOPT_QUICK_EXIT), 1)
        let this = Unmanaged.passUnretained(self).toOpaque()
        for option in [CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_XFERINFODATA] { set(option, this) }
        require(
            lanyard_curl_set_sink(easy, CInt(CURLOPT_WRITEFUNCTION)) { bytes, _, count, data in
                Transfer.of(data)?.receive(UnsafeRawBufferPointer(start: bytes, count: count), isHead: false) ?? 0
            })
        require(
            lanyard_curl_set_sink(easy, CInt(CURLOPT_HEADERFUNCTION)) { bytes, _, count, data in
                Transfer.of(data)?.receive(UnsafeRawBufferPointer(start: bytes, count: count), isHead: true) ?? 0
            })
        // libcurl itself doesn't look at the clock for as long as a proxy sends a body.
        set(CURLOPT_NOPROGRESS, 0)
        require(lanyard_curl_set_progress(easy) { data, _, _, _, _ in Transfer.of(data)?.mayGoOn == true ? 0 : 1 })
        guard Self.canCheck else { return }
        set(CURLOPT_PREREQDATA, this)
        require(lanyard_curl_set_check(easy) { data, _, _, _, _ in Transfer.of(data)?.mayBeSent() == true ? 0 : 1 })
    }

    private func prepare(_ request: HTTPRequest) {
        set(CURLOPT_CUSTOMREQUEST, request.method)
        set(CURLOPT_USERAGENT, client.userAgent)
        var fields = request.headers.map { "\($0.name): \($0.value.reveal())" }
        // Nobody is asked whether a body is welcome.
        fields.append("Expect:")
        if let body = request.body {
            content = body
            require(lanyard_curl_set_size(easy, CInt(CURLOPT_POSTFIELDSIZE_LARGE), Int64(body.count)))
            // It isn't copied; the array isn't changed from here on.
            content.withUnsafeBufferPointer { set(CURLOPT_POSTFIELDS, $0.baseAddress) }
        }
        if fields.contains(where: { $0.utf8.contains { $0 < 0x20 || $0 == 0x7F } }) { isInvalid = true }
        for field in fields { list = curl_slist_append(list, field) }
        set(CURLOPT_HTTPHEADER, UnsafeRawPointer(list))
    }

    private func set(_ option: Int, _ value: Int) { require(lanyard_curl_set_long(easy, CInt(option), value)) }

    private func set(_ option: Int, _ pointer: UnsafeRawPointer?) {
        require(lanyard_curl_set_pointer(easy, CInt(option), pointer))
    }

    private func set(_ option: Int, _ text: String?) {
        guard let text else { return set(option, nil as UnsafeRawPointer?) }
        // A text with a NUL would end there.
        if text.utf8.contains(0) { isInvalid = true }
        text.withCString { set(option, UnsafeRawPointer($0)) }
    }

    /// An option that can't be set may be one that protects.
    private func require(_ code: CURLcode) {
        if code != 0 { isInvalid = true }
    }

    // MARK: - Running

    /// Runs the transfer on a thread of its own; returns libcurl's code, nil if the task was cancelled.
    private func run() async -> CURLcode? {
        guard easy != nil, multi != nil, !isInvalid else { return 3 }
        let left = max(1, Int((end - .now) / .milliseconds(1)))
        set(CURLOPT_TIMEOUT_MS, left)
        set(CURLOPT_CONNECTTIMEOUT_MS, min(left, Int(client.limits.connect / .milliseconds(1))))
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // A queue of its own has a thread of its own, however many others wait.
                DispatchQueue(label: "http").async { continuation.resume(returning: self.perform()) }
            }
        } onCancel: {
            isCancelled.store(true, ordering: .sequentiallyConsistent)
            _ = curl_multi_wakeup(multi)
        }
    }

    private var mayGoOn: Bool { !isCancelled.load(ordering: .sequentiallyConsistent) && .now < end }

    private func perform() -> CURLcode? {
        guard curl_multi_add_handle(multi, easy) == 0 else { return 2 }
        defer { _ = curl_multi_remove_handle(multi, easy) }
        var running: CInt = 1
        while !isCancelled.load(ordering: .sequentiallyConsistent) {
            guard curl_multi_perform(multi, &running) == 0 else { return 2 }
            var left: CInt = 0
            // 1 is CURLMSG_DONE.
            if let message = curl_multi_info_read(multi, &left), message.pointee.msg == 1 {
                return isCancelled.load(ordering: .sequentiallyConsistent) ? nil : message.pointee.data.result
            }
            guard curl_multi_poll(multi, nil, 0, 1_000, nil) == 0 else { return 2 }
        }
        return nil
    }

    private static func of(_ data: UnsafeMutableRawPointer?) -> Transfer? {
        data.map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    /// Receives a line of a head, or a piece of the body; fewer bytes than there are end the transfer.
    private func receive(_ bytes: UnsafeRawBufferPointer, isHead: Bool) -> Int {
        if isHead {
            head.add(bytes)
            isTooLarge = head.size > client.limits.head
        } else {
            isTooLarge = body.count + bytes.count > client.limits.body
            if !isTooLarge { body.append(contentsOf: bytes) }
        }
        return isTooLarge ? 0 : bytes.count
    }

    /// Decides before the first byte of a request is sent, once libcurl has verified what it verifies.
    private func mayBeSent() -> Bool {
        switch client.identity {
        case .anyone: isSent = true
        case .trusted:
            isSent = firstCertificate()?.isFor(host) == true
            if !isSent { problem = .otherName([]) }
        case .pinned(let pin):
            isSent = firstCertificate().map { pin.matches(der: $0.der) } == true
            if !isSent { problem = .notPinned }
        }
        return isSent
    }

    private func firstCertificate() -> Certificate? {
        var chain: UnsafeMutablePointer<curl_certinfo>?
        guard lanyard_curl_get_certificates(easy, &chain) == 0, let chain, chain.pointee.num_of_certs > 0 else {
            return nil
        }
        var entry = chain.pointee.certinfo[0]
        while let field = entry {
            let text = String(cString: field.pointee.data)
            if text.hasPrefix("Cert:") { return Certificate(pem: String(text.dropFirst("Cert:".count))) }
            entry = field.pointee.next
        }
        return nil
    }
}

// MARK: - Failures

extension Transfer {
    private func number(_ info: Int) -> Int {
        var value = 0
        return lanyard_curl_get_long(easy, CInt(info), &value) == 0 ? value : 0
    }

    /// What libcurl's code means, which nil stands for a cancellation in.
    private func reason(_ code: CURLcode?) -> HTTPError.Reason {
        guard let code else { return .cancelled }
        if isInvalid { return .invalid }
        if isTooLarge { return .tooLarge }
        if let problem { return .certificate(problem) }
        let connect = number(CURLINFO_HTTP_CONNECTCODE)
        switch code {
        // An old libcurl takes any number for a status.
        case 0: return head.status.map { $0 < 200 } == true ? .garbled : .closed
        case 1, 8: return .garbled
        case 5, 6: return .unreachable(.unknownName)
        case 7: return .unreachable(obstacle)
        case 18, 52, 55: return .closed
        // CURLE_ABORTED_BY_CALLBACK is the clock, too.
        case 28, 42: return isConnected ? .timedOut : .unreachable(.timedOut)
        case 35: return handshakeFailure
        case 51, 60: return .certificate(certificateProblem)
        case 56 where connect == 407: return .proxyWantsPassword
        case 56 where connect >= 300: return .refusedByProxy(connect)
        case 56: return .closed
        case 58: return .ownCertificate
        // CURLE_OUT_OF_MEMORY is what earlier versions say of a line that is too long.
        case 27, 63, 100: return .tooLarge
        case 97: return socksFailure
        default: return isSent ? .garbled : .unreachable(.other(text.isEmpty ? nil : text))
        }
    }

    private func isFailure(_ code: CURLcode, ofProxy reason: HTTPError.Reason) -> Bool {
        switch reason {
        // The name of a host that a SOCKS proxy can't find has a code of its own.
        case .unreachable: [5, 6, 7, 28, 42].contains(code)
        case .refusedByProxy, .proxyWantsPassword: true
        case .certificate, .withoutTLS, .outdatedTLS: isBeforeTunnel
        default: false
        }
    }

    /// Whether a handshake is that with the proxy.
    private var isBeforeTunnel: Bool { proxy?.kind == "https" && number(CURLINFO_HTTP_CONNECTCODE) == 0 }

    private var text: String { String(cString: words) }

    private var obstacle: HTTPError.Obstacle {
        switch CInt(number(CURLINFO_OS_ERRNO)) {
        case ECONNREFUSED: .refused
        case ETIMEDOUT: .timedOut
        case EHOSTUNREACH, ENETUNREACH, ENETDOWN, EADDRNOTAVAIL: .noRoute
        case 0: .other(nil)
        case let number: .other(String(cString: strerror(number)))
        }
    }

    private var isConnected: Bool {
        var seconds = 0.0
        return isSent || lanyard_curl_get_double(easy, CInt(CURLINFO_CONNECT_TIME), &seconds) == 0 && seconds > 0
    }

    /// libcurl has one code for all of these, and words that depend on who made its TLS.
    private var handshakeFailure: HTTPError.Reason {
        let text = text.lowercased()
        func says(_ words: [String]) -> Bool { words.contains(where: text.hasBytes) }
        if says(["x.509 key or certificate file"]) { return .ownCertificate }
        if says(["wrong version number", "http request", "unexpected tls packet", "record layer failure"]) {
            return .withoutTLS
        }
        let outdated = [
            "unsupported protocol", "protocol version", "unsupported version", "no protocols available",
            "handshake failure", "handshake failed", "insufficient security", "no shared cipher", "inappropriate",
        ]
        return says(outdated) ? .outdatedTLS : .closed
    }

    /// Whether libcurl can be stopped between the handshake and the request, as since 7.80.
    static var canCheck: Bool { curl_version_info(0).pointee.version_num >= 0x07_50_00 }

    /// Whether libcurl has its TLS from GnuTLS rather than OpenSSL.
    static var usesGnuTLS: Bool { String(cString: curl_version_info(0).pointee.ssl_version).hasPrefix("GnuTLS") }

    private var certificateProblem: CertificateDefect {
        let result = number(isBeforeTunnel ? CURLINFO_PROXY_SSL_VERIFYRESULT : CURLINFO_SSL_VERIFYRESULT)
        // GnuTLS has a bit for each reason, OpenSSL a number.
        if Self.usesGnuTLS {
            if result == 0 { return .otherName([]) }
            if result & 1024 != 0 { return .expired(nil) }
            if result & 512 != 0 { return .notYetValid(nil) }
            return result & 64 != 0 ? .unknownIssuer : .unknown
        }
        switch result {
        case 1, 62, 64: return .otherName([])
        case 9: return .notYetValid(nil)
        case 10: return .expired(nil)
        case 2, 18, 19, 20, 21: return .unknownIssuer
        default: return .unknown
        }
    }

    /// CURLINFO_PROXY_ERROR: what the proxy itself said, or what went wrong on the way to it.
    private var socksFailure: HTTPError.Reason {
        switch number(CURLINFO_PROXY_ERROR) {
        // CURLPX_RESOLVE_HOST: the name that isn't left to the proxy.
        case 27: .unreachable(.unknownName)
        // CURLPX_NO_AUTH and CURLPX_USER_REJECTED.
        case 12, 33: .proxyWantsPassword
        default: .refusedByProxy(nil)
        }
    }
}
