import AsyncHTTPClient
import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
package import Secrets

/// A request to a service of the machine's own platform, as a value.
package struct DirectRequest: Sendable, Equatable {
    /// The URL without the additions of `query`; `http` or `https`.
    package var url: String
    /// Parameters to append to the URL's query.
    package var query: [String: String]
    /// The headers; any of them may be secret.
    package var headers: [String: Secret]
    /// The form to post; nil for a GET request.
    package var form: [String: String]?

    /// Creates a request; it is a GET if there is no form.
    package init(
        _ url: String, query: [String: String] = [:], headers: [String: Secret] = [:], form: [String: String]? = nil
    ) {
        self.url = url
        self.query = query
        self.headers = headers
        self.form = form
    }

    /// The HTTP method: POST with a form, else GET.
    package var method: String { form == nil ? "GET" : "POST" }
}

/// Why a service of the machine's platform gave no complete answer.
package enum DirectFailure: Error, Sendable, Equatable {
    /// The task was cancelled.
    case cancelled
    /// There is a connection, but no answer in time.
    case silent
    /// There is no connection: the service doesn't exist, or not for this machine.
    case absent
    /// The certificate isn't the pinned one, or isn't trusted.
    case distrusted
    /// The answer isn't HTTP, or is too large.
    case garbled
}

/// HTTP to a service of the machine's own platform: never through a proxy, never redirected, one attempt per request,
/// limited in time and size.
///
/// Such a service has no name that a certificate could be for, so some use no TLS; they are on this machine or one hop
/// away. A pinned service is sent nothing until its certificate has proved to be the pinned one.
package struct DirectTransport: Sendable {
    /// The size limit of a body, in bytes.
    private static let largestBody = 1 << 20

    private let client: HTTPClient
    private let headers: [(name: String, value: String)]

    /// Creates a transport to a service; end it with `close`.
    ///
    /// - Parameters:
    ///   - url: The service's URL, `http` or `https`.
    ///   - pin: The service's certificate, if it uses https; if nil, the certificate is validated like an authority's.
    ///   - headers: Additional headers of every request.
    ///   - caFile: A file of PEM certificates to trust besides the system's.
    ///   - environment: The environment with `SSL_CERT_FILE` and `SSL_CERT_DIR`; its proxy variables are ignored.
    ///   - connect: The time limit for connecting.
    /// - Throws: `invalidRequest` if a certificate file can't be used.
    package init(
        to url: String, pin: CertificatePin?, headers: [(name: String, value: String)], caFile: String?,
        environment: [String: String], connect: Duration
    ) throws(OAuthError) {
        self.headers = [("accept", "application/json")] + headers
        if url.lowercased().utf8.starts(with: "http:".utf8) {
            client = Self.client(.bare, nil, connect)
        } else if let pin {
            var tls = TLSConfiguration.strictClient
            // The guard compares the certificate with the pin before the first byte of a request; nothing else about it
            // matters.
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

    /// Closes the connections.
    package func close() {
        Task { try? await client.shutdown() }
    }

    /// Sends a request to the service once.
    ///
    /// - Returns: The answer, whatever its status.
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
        case .tooLarge, .garbled, .withoutTLS, .outdatedTLS: self = .garbled
        case .distrusted: self = .distrusted
        case .refusedByProxy, .proxyWantsPassword, .unreachable: self = .absent
        }
    }
}
