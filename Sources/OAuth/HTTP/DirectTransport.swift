package import HTTP
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
    private let client: HTTPClient
    private let headers: [(name: String, value: String)]

    /// Creates a transport to a service.
    ///
    /// - Parameters:
    ///   - url: The service's URL, `http` or `https`.
    ///   - pin: The service's certificate, if it uses https; if nil, the certificate is validated like an authority's.
    ///   - userAgent: The program's name.
    ///   - headers: Additional headers of every request.
    ///   - network: The certificates to trust; its proxy is ignored.
    ///   - connect: The time limit for connecting.
    /// - Throws: `unusableSetting` if a certificate file can't be used.
    package init(
        to url: String, pin: CertificatePin?, userAgent: String, headers: [(name: String, value: String)] = [],
        network: NetworkSettings, connect: Duration
    ) throws(OAuthError) {
        self.headers = [("accept", "application/json")] + headers
        var limits = HTTPClient.Limits()
        limits.connect = connect
        let identity: HTTPClient.ServerIdentity
        do throws(CertificateFileProblem) {
            identity =
                if url.lowercased().utf8.starts(with: "http:".utf8) {
                    .anyone
                } else if let pin {
                    .pinned(pin)
                } else {
                    .trusted(try TrustAnchors(network))
                }
        } catch {
            throw OAuthError(error)
        }
        client = HTTPClient(userAgent: userAgent, identity, limits: limits)
    }

    /// Sends a request to the service once.
    ///
    /// - Returns: The answer, whatever its status.
    package func send(_ request: DirectRequest, within limit: Duration) async throws(DirectFailure) -> HTTPAnswer {
        let form = request.form.map { FormEncoding.encode(Self.fields($0)) }
        var fields = headers.map { (name: $0.name, value: Secret($0.value)) }
        if form != nil { fields.append((name: "content-type", value: Secret(FormEncoding.mediaType))) }
        for (name, value) in request.headers.sorted(by: { $0.key < $1.key }) {
            fields.removeAll { $0.name.lowercased() == name.lowercased() }
            fields.append((name: name, value: value))
        }
        let url = FormEncoding.append(Self.fields(request.query), to: request.url)
        do throws(HTTPError) {
            return try await client.send(
                HTTPRequest(request.method, url, headers: fields, body: form.map { Array($0.utf8) }), within: limit)
        } catch {
            throw DirectFailure(error)
        }
    }

    private static func fields(_ values: [String: String]) -> [FormEncoding.Field] {
        values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

extension DirectFailure {
    fileprivate init(_ error: HTTPError) {
        self =
            switch error.reason {
            case .cancelled: .cancelled
            case .timedOut, .closed: .silent
            case .tooLarge, .garbled, .withoutTLS, .outdatedTLS: .garbled
            case .certificate: .distrusted
            case .refusedByProxy, .proxyWantsPassword, .unreachable, .library, .lacking, .ownCertificate, .invalid:
                .absent
            }
    }
}
