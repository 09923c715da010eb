import AsyncHTTPClient
import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
package import Secrets

/// A request to a service of the machine's own platform, as a value.
package struct DirectRequest: Sendable, Equatable {
    /// The URL without what `query` adds; `http` or `https`.
    package var url: String
    /// What is added to the URL's query.
    package var query: [String: String]
    /// Headers, of which each may be secret.
    package var headers: [String: Secret]
    /// The form that is posted; without one the request is a GET.
    package var form: [String: String]?

    /// Makes a request.
    package init(
        _ url: String, query: [String: String] = [:], headers: [String: Secret] = [:], form: [String: String]? = nil
    ) {
        self.url = url
        self.query = query
        self.headers = headers
        self.form = form
    }

    /// Its method.
    package var method: String { form == nil ? "GET" : "POST" }
}

/// Why no whole answer came from a service of the machine's platform.
package enum DirectFailure: Error, Sendable, Equatable {
    /// The task was cancelled.
    case cancelled
    /// There is a connection, but the answer didn't come, or not in time.
    case silent
    /// There is no connection: nothing is there, or not for this machine.
    case absent
    /// The certificate isn't the pinned one, or isn't believed.
    case distrusted
    /// What came is no HTTP, or too much.
    case garbled
}

/// HTTP to a service of the machine's own platform: never by a proxy, never redirected, one attempt each, bounded in time and size.
///
/// Such a service has no name that a certificate could be for, so that some are asked without TLS; they are on this machine or
/// one hop away. A pinned one is sent nothing before its certificate has turned out to be the pinned one.
package struct DirectTransport: Sendable {
    /// The largest body that is read, in bytes.
    private static let largestBody = 1 << 20

    private let client: HTTPClient
    private let headers: [(name: String, value: String)]

    /// Makes a way to a service; `close` ends it.
    ///
    /// - Parameters:
    ///   - url: the service's URL, `http` or `https`.
    ///   - pin: its certificate, if it is asked by https; without one, the certificate is judged as an authority's is.
    ///   - headers: headers of each request, besides its own.
    ///   - caFile: a file of PEM certificates to trust besides the system's.
    ///   - environment: where `SSL_CERT_FILE` and `SSL_CERT_DIR` are looked for; no proxy is.
    ///   - connect: how long a connection may take.
    /// - Throws: `invalidRequest` if a file of certificates can't be used.
    package init(
        to url: String, pin: CertificatePin?, headers: [(name: String, value: String)], caFile: String?,
        environment: [String: String], connect: Duration
    ) throws(OAuthError) {
        self.headers = [("accept", "application/json")] + headers
        if url.lowercased().utf8.starts(with: "http:".utf8) {
            client = Self.client(.bare, nil, connect)
        } else if let pin {
            var tls = TLSConfiguration.makeClientConfiguration()
            // The guard compares the certificate with the pin before the first byte of a request; no other proof counts.
            tls.certificateVerification = .none
            client = Self.client(.pin(pin), tls, connect)
        } else {
            let tls = try TrustRoots(caFile: caFile, environment: environment).configuration
            client = Self.client(.protect, tls, connect)
        }
    }

    private static func client(
        _ duty: ConnectionGuard.Duty, _ tls: TLSConfiguration?, _ connect: Duration
    ) -> HTTPClient {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow, timeout: .init(connect: connect.timeAmount))
        configuration.httpVersion = .http1Only
        configuration.proxy = nil
        configuration.dnsOverride = ["localhost": "127.0.0.1"]
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.http1_1ConnectionDebugInitializer = { ConnectionGuard.install(in: $0, for: duty) }
        return HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
    }

    /// Ends the connections.
    package func close() {
        Task { try? await client.shutdown() }
    }

    /// Sends a request to the service once.
    ///
    /// - Returns: the answer, whatever its status.
    package func send(_ request: DirectRequest, within limit: Duration) async throws(DirectFailure) -> HTTPAnswer {
        let client = client
        let outgoing = outgoing(request)
        do {
            return try await withDeadline(limit) {
                let response = try await client.execute(outgoing, timeout: limit.timeAmount)
                let body = try await response.body.collect(upTo: Self.largestBody)
                return HTTPAnswer(
                    status: Int(response.status.code), headers: response.headers, body: Data(body.readableBytesView))
            }
        } catch {
            throw DirectFailure(error)
        }
    }

    private func outgoing(_ request: DirectRequest) -> HTTPClientRequest {
        var outgoing = HTTPClientRequest(url: FormEncoding.append(Self.fields(request.query), to: request.url))
        for (name, value) in headers { outgoing.headers.add(name: name, value: value) }
        for (name, value) in request.headers { outgoing.headers.replaceOrAdd(name: name, value: value.reveal()) }
        guard let form = request.form else { return outgoing }
        outgoing.method = .POST
        outgoing.headers.replaceOrAdd(name: "content-type", value: FormEncoding.mediaType)
        outgoing.body = .bytes(ByteBuffer(string: FormEncoding.encode(Self.fields(form))))
        return outgoing
    }

    private static func fields(_ values: [String: String]) -> [FormEncoding.Field] {
        values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

extension DirectFailure {
    fileprivate init(_ error: any Error) {
        if error is CertificateNotPinned {
            self = .distrusted
            return
        }
        switch TransportFailure(error) {
        case .cancelled: self = .cancelled
        case .timedOut, .closed: self = .silent
        case .tooLarge, .garbled, .withoutTLS: self = .garbled
        case .distrusted: self = .distrusted
        case .refusedByProxy, .proxyWantsPassword, .unreachable: self = .absent
        }
    }
}
