import Addresses
import AsyncHTTPClient
import FoundationEssentials
import NIOCore
import NIOHTTP1
import Synchronization

/// A complete answer of an authority.
package struct HTTPAnswer: Sendable, Equatable {
    /// The status; redirects are never followed.
    package let status: Int
    let headers: HTTPHeaders
    let body: Data

    /// Decodes the body as JSON of this type; nil if it isn't.
    package func json<Value: Decodable>(_ type: Value.Type) -> Value? {
        try? JSONDecoder().decode(type, from: jsonBody)
    }

    /// The body; a form as JSON, because some authorities answer with forms.
    var jsonBody: Data {
        guard FormEncoding.isType(headers.first(name: "content-type")), let text,
            text.utf8.first != UInt8(ascii: "{")
        else { return body }
        return (try? JSONEncoder().encode(FormEncoding.decode(text[...]))) ?? body
    }

    /// The body, at most as long as a transport accepts.
    package var bytes: [UInt8] { Array(body) }

    /// The body as text; nil if it isn't UTF-8.
    package var text: String? { String(validating: body, as: UTF8.self) }

    /// Returns the value of a header; nil if it is missing or repeated.
    package func header(_ name: String) -> String? {
        let values = headers[name]
        return values.count == 1 ? values.first : nil
    }

    /// The time of the answer, by the authority's clock.
    var date: Date? { headers.first(name: "date").flatMap(HTTPDate.parse) }

    /// The time of the answer, by the authority's clock, in seconds since 1970.
    package var time: Int? { date.map { Int($0.timeIntervalSince1970) } }

    /// The longest accepted lifetime, ten years; adding a longer one to a date could overflow.
    package static let longestLifetime = 315_360_000

    /// Seconds from then until a time since 1970, whatever number somebody gave for it.
    package func lifetime(until end: Double) -> Int {
        // Bounded first: not every number of seconds is one that can be an integer.
        Int(min(max(0, end - (date ?? .now).timeIntervalSince1970), Double(Self.longestLifetime)))
    }

    /// The seconds of `Retry-After` (RFC 9110, 10.2.3), at most an hour; a date is relative to the answer's own date.
    package var retryAfter: Int? {
        guard let text = headers.first(name: "retry-after") else { return nil }
        let seconds = Int(text).map(Double.init) ?? HTTPDate.parse(text)?.timeIntervalSince(date ?? .now)
        return seconds.map { Int(min(max($0, 0), 3_600).rounded(.up)) }
    }
}

/// HTTPS to authorities: limited in time and size, retried once, never redirected.
package struct Transport: Sendable {
    /// The limits of time and size.
    package struct Limits: Sendable {
        /// The time to connect, including TLS.
        package var connect = Duration.seconds(10)
        /// The time of one attempt, including the body.
        package var whole = Duration.seconds(30)
        /// The pause between the two attempts, unless the host specifies one.
        package var pause = Duration.seconds(1)
        /// The longest pause that is worth waiting for; a longer one is reported in the error.
        package var longestPause = Duration.seconds(10)
        /// The time of both attempts together, so that the plugin is never silent for the minute that the host allows.
        package var exchange = Duration.seconds(50)
        /// The time of all requests of a renewal, for the same reason.
        package var renewal = Duration.seconds(55)
        /// The time of all requests of a probe: a user who diagnoses a problem doesn't want to wait long.
        package var probe = Duration.seconds(15)
        /// The size of a body, in bytes.
        package var body = 1 << 20

        /// Creates the default limits.
        package init() {}
    }

    /// The client's identification and network settings.
    package struct Settings: Sendable {
        /// The program's name in the authorities' logs (RFC 9110, 10.1.5).
        package var userAgent: String
        /// Additional headers of every request, in this order.
        package var headers: [(name: String, value: String)] = []
        /// A file of PEM certificates to trust in addition to the system's.
        package var caFile: String?
        /// The locations of the system's certificates.
        package var systemCertificates = SystemCertificates.usual
        /// The environment with the proxy and certificate variables.
        package var environment: [String: String]
        /// The limits of time and size.
        package var limits: Limits
        /// The time limit of all requests together; nil if a user may be involved in between.
        package var whole: Duration?

        /// Creates settings with no additional headers or certificates.
        package init(userAgent: String, environment: [String: String], limits: Limits = Limits()) {
            self.userAgent = userAgent
            self.environment = environment
            self.limits = limits
        }
    }

    /// Whether a request may be sent a second time.
    package enum Repetition: Sendable {
        /// The request has no effect if repeated.
        case harmless
        /// Only if the authority can't have acted on it: a code can be used once, and sending it twice may revoke the
        /// tokens that it returned (RFC 6749, 4.1.2).
        case unlessActedOn
        /// No: the caller repeats the request itself.
        case never
    }

    private let connections: Connections
    private let limits: Limits
    private let headers: [(name: String, value: String)]
    /// The time at which all waiting ends.
    private let end: ContinuousClock.Instant?

    /// Creates a transport to authorities; end it with `close`.
    ///
    /// - Throws: `invalidRequest` if a certificate file or the proxy's name can't be used.
    package init(_ settings: Settings) throws(OAuthError) {
        connections = try Connections(settings)
        limits = settings.limits
        headers = [("accept", "application/json"), ("user-agent", settings.userAgent)] + settings.headers
        end = settings.whole.map { .now + $0 }
    }

    /// Closes the connections.
    package func close() { connections.close() }

    /// Returns the proxy for a URL as `HOST:PORT`; nil for none.
    package func proxy(for url: String) -> String? { connections.first.proxy(for: url) }

    /// Gets a document; these headers come before those of the settings.
    package func get(_ url: String, headers: [(String, String)] = []) async throws(OAuthError) -> HTTPAnswer {
        try await send(Outgoing(url: url, headers: headers), .harmless)
    }

    /// Posts a form.
    ///
    /// - Parameters:
    ///   - url: The URL to post to.
    ///   - fields: The form.
    ///   - headers: Additional headers, before those of the settings.
    ///   - repetition: Whether the request may be sent a second time.
    /// - Returns: The answer, which may be a refusal.
    /// - Throws: the reason why there is no answer.
    package func post(
        _ url: String, _ fields: [FormEncoding.Field], headers: [(String, String)] = [], _ repetition: Repetition
    ) async throws(OAuthError) -> HTTPAnswer {
        try await send(Outgoing(url: url, form: FormEncoding.encode(fields), headers: headers), repetition)
    }

    /// Posts a JSON document; otherwise like posting a form.
    package func post(
        _ url: String, json: String, headers: [(String, String)] = [], _ repetition: Repetition
    ) async throws(OAuthError) -> HTTPAnswer {
        var request = Outgoing(url: url, form: json, headers: headers)
        request.mediaType = "application/json"
        return try await send(request, repetition)
    }

    /// Deletes the resource at a URL.
    package func delete(
        _ url: String, headers: [(String, String)], _ repetition: Repetition
    ) async throws(OAuthError) -> HTTPAnswer {
        var request = Outgoing(url: url, headers: headers)
        request.method = .DELETE
        return try await send(request, repetition)
    }

    private func send(_ request: Outgoing, _ repetition: Repetition) async throws(OAuthError) -> HTTPAnswer {
        let exchangeEnd = ContinuousClock.now + limits.exchange
        let last = end.map { min($0, exchangeEnd) } ?? exchangeEnd
        let first = await once(request, until: last)
        guard case .failure(let failed) = first, let pause = failed.pause(before: repetition),
            pause <= limits.longestPause, ContinuousClock.now + pause < last
        else { return try first.mapError(\.error).get() }
        do {
            try await Task.sleep(for: pause)
        } catch {
            throw .ended
        }
        return try await once(request, until: last).mapError(\.error).get()
    }

    /// An attempt without a usable answer.
    private struct FailedAttempt: Error {
        var error: OAuthError
        /// The pause before a second attempt; nil if a second attempt is pointless.
        var pause: Duration?
        /// Whether the authority may have carried out the request nevertheless.
        var mayHaveActed: Bool

        func pause(before repetition: Repetition) -> Duration? {
            switch repetition {
            case .harmless: pause
            case .unlessActedOn: mayHaveActed ? nil : pause
            case .never: nil
            }
        }
    }

    private func once(
        _ request: Outgoing, until last: ContinuousClock.Instant
    ) async -> Result<HTTPAnswer, FailedAttempt> {
        let host = StrictURL(https: request.url)?.hostText ?? "the authority"
        let form = OutgoingForm(request.form)
        do throws(TransportFailure) {
            let answer = try await attempt(request, form, within: min(limits.whole, last - .now))
            if answer.status == 429 {
                return .failure(FailedAttempt(error: Self.throttling(answer, host: host), mayHaveActed: false))
            }
            guard answer.status >= 500 else { return .success(answer) }
            let pause = answer.retryAfter.map { Duration.seconds($0) } ?? limits.pause
            // Only 503 means that nothing was done (RFC 9110, 15.6.4).
            return .failure(
                FailedAttempt(error: Self.failing(answer, host: host), pause: pause, mayHaveActed: answer.status != 503)
            )
        } catch {
            let pause = error.isWorthRetrying ? limits.pause : nil
            let error = error.oauthError(host: host, proxy: proxy(for: request.url))
            return .failure(FailedAttempt(error: error, pause: pause, mayHaveActed: form.isTaken))
        }
    }

    private func attempt(
        _ request: Outgoing, _ form: OutgoingForm, within limit: Duration
    ) async throws(TransportFailure) -> HTTPAnswer {
        let end = ContinuousClock.now + limit
        var clients = connections.first
        while true {
            do throws(TransportFailure) {
                return try await execute(request, form, by: clients, within: end - .now)
            } catch {
                guard case .distrusted(.unknown) = error else { throw error }
                // Nothing has been sent yet.
                guard let whole = connections.whole(after: clients) else {
                    throw .distrusted(await clients.fault(at: request.url, within: end - .now))
                }
                clients = whole
            }
        }
    }

    private func execute(
        _ request: Outgoing, _ form: OutgoingForm, by clients: Clients, within limit: Duration
    ) async throws(TransportFailure) -> HTTPAnswer {
        let client = clients.client(for: request.url)
        let outgoing = request.request(with: form, headers)
        let limits = limits
        do {
            return try await withDeadline(limit) {
                let response = try await client.execute(outgoing, timeout: limits.whole.timeAmount)
                let body = try await response.body.collect(upTo: limits.body)
                return HTTPAnswer(
                    status: Int(response.status.code), headers: response.headers, body: Data(body.readableBytesView))
            }
        } catch {
            throw TransportFailure(error)
        }
    }

    private static func throttling(_ answer: HTTPAnswer, host: String) -> OAuthError {
        var error = OAuthError(.throttled, "\(host) says that there were too many requests")
        error.retryAfter = answer.retryAfter ?? 60
        error.wasAnswered = true
        return error
    }

    private static func failing(_ answer: HTTPAnswer, host: String) -> OAuthError {
        var error = OAuthError(.unavailable, "\(host) is not working at the moment (HTTP \(answer.status))")
        error.retryAfter = answer.retryAfter
        error.wasAnswered = true
        if error.retryAfter == nil { error.hint = "try again later" }
        return error
    }
}

/// A request, which may be sent more than once.
private struct Outgoing: Sendable {
    let url: String
    /// The method if there is no body; a body is posted.
    var method = HTTPMethod.GET
    /// The body, a form unless `mediaType` says otherwise.
    var form: String?
    var mediaType = FormEncoding.mediaType
    var headers: [(String, String)] = []

    /// Returns the request with a body, and with the headers of every request.
    func request(with form: OutgoingForm, _ common: [(name: String, value: String)]) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url)
        request.method = method
        if let body = form.body {
            request.method = .POST
            request.headers.add(name: "content-type", value: mediaType)
            request.body = body
        }
        for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
        for (name, value) in common { request.headers.add(name: name, value: value) }
        return request
    }
}

/// The body of one attempt; it records whether any of it may have been sent.
///
/// async-http-client requests it after connecting and writing the head of the request.
private final class OutgoingForm: Sendable {
    private let length: Int?
    private let rest: Mutex<ByteBuffer?>

    init(_ text: String?) {
        length = text?.utf8.count
        rest = Mutex(text.map { ByteBuffer(string: $0) })
    }

    /// Whether the body may have been sent; always true for a request without a body.
    var isTaken: Bool { rest.withLock { $0 == nil } }

    var body: HTTPClientRequest.Body? {
        length.map { .stream(AsyncStream { self.take() }, length: .known(Int64($0))) }
    }

    private func take() -> ByteBuffer? {
        rest.withLock { $0.take() }
    }
}

extension Duration {
    /// The duration as a NIO `TimeAmount`.
    var timeAmount: TimeAmount {
        .nanoseconds(components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000)
    }
}
