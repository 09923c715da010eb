import Addresses
import AsyncHTTPClient
import FoundationEssentials
import NIOCore
import NIOHTTP1
import Synchronization

/// What an authority answered, read whole.
package struct HTTPAnswer: Sendable, Equatable {
    /// The status; never one of a redirect that was followed.
    package let status: Int
    let headers: HTTPHeaders
    let body: Data

    /// The body as a JSON value of the type, or nil.
    package func json<Value: Decodable>(_ type: Value.Type) -> Value? {
        try? JSONDecoder().decode(type, from: body)
    }

    /// The body as text; nil if it isn't UTF-8.
    package var text: String? { String(validating: body, as: UTF8.self) }

    /// A header that is there once.
    package func header(_ name: String) -> String? {
        let values = headers[name]
        return values.count == 1 ? values.first : nil
    }

    /// The answer with a form in its body as JSON, for authorities that answer so; another one as it is.
    var formAsJSON: HTTPAnswer {
        let type = headers.first(name: "content-type")?.pieces(between: ";").first?.trimmed()
        guard type?.lowercased() == FormEncoding.mediaType, let text = String(validating: body, as: UTF8.self),
            let json = try? JSONEncoder().encode(FormEncoding.decode(text[...]))
        else { return self }
        return HTTPAnswer(status: status, headers: headers, body: json)
    }

    /// When it was sent, by the authority's clock.
    var date: Date? { headers.first(name: "date").flatMap(HTTPDate.parse) }

    /// The same, in seconds since 1970.
    package var time: Int? { date.map { Int($0.timeIntervalSince1970) } }

    /// Longest lifetime believed, ten years; past it a sum with a date could overflow.
    static let longestLifetime = 315_360_000

    /// Seconds from then until a time since 1970, whatever number somebody gave for it.
    package func lifetime(until end: Double) -> Int {
        // Bounded first: not every number of seconds is one that can be an integer.
        Int(min(max(0, end - (date ?? .now).timeIntervalSince1970), Double(Self.longestLifetime)))
    }

    /// Seconds of `Retry-After` (RFC 9110, 10.2.3), at most an hour; a date is seen from the answer's own.
    package var retryAfter: Int? {
        guard let text = headers.first(name: "retry-after") else { return nil }
        let seconds = Int(text).map(Double.init) ?? HTTPDate.parse(text)?.timeIntervalSince(date ?? .now)
        return seconds.map { Int(min(max($0, 0), 3_600).rounded(.up)) }
    }
}

/// HTTPS to authorities: bounded in time and size, once retried, never redirected.
package struct Transport: Sendable {
    /// How long and how much.
    package struct Limits: Sendable {
        /// Of reaching the host, TLS included.
        package var connect = Duration.seconds(10)
        /// Of one attempt, body included.
        package var whole = Duration.seconds(30)
        /// Between the two attempts, if the host does not say.
        package var pause = Duration.seconds(1)
        /// The longest pause worth waiting for; told in the error if longer.
        package var longestPause = Duration.seconds(10)
        /// Of both attempts, so that the plugin is never silent for the minute that the host allows.
        package var exchange = Duration.seconds(50)
        /// Of everything that a renewal asks, for the same reason.
        package var renewal = Duration.seconds(55)
        /// Of everything that a probe asks: whoever wants to know what is wrong doesn't want to wait for long.
        package var probe = Duration.seconds(15)
        /// Of a body, in bytes.
        package var body = 1 << 20

        /// Makes the usual limits.
        package init() {}
    }

    /// Who asks, and by which way.
    package struct Settings: Sendable {
        /// What authorities' logs call the program (RFC 9110, 10.1.5).
        package var userAgent: String
        /// Further headers of each request, in this order.
        package var headers: [(name: String, value: String)] = []
        /// A file of PEM certificates to trust besides the system's.
        package var caFile: String?
        /// Where the system's are.
        package var systemCertificates = SystemCertificates.usual
        /// Where proxies and certificates are looked for.
        package var environment: [String: String]
        /// How long and how much.
        package var limits: Limits
        /// How long all requests may take together; nil if a person may come in between.
        package var whole: Duration?

        /// Makes settings.
        package init(userAgent: String, environment: [String: String], limits: Limits = Limits()) {
            self.userAgent = userAgent
            self.environment = environment
            self.limits = limits
        }
    }

    /// Whether a request may be sent a second time.
    package enum Repetition: Sendable {
        /// It may: it does no harm twice.
        case harmless
        /// Only if the authority can't have acted on it: a code is good once, and sent twice it may cost the tokens that
        /// it gave (RFC 6749, 4.1.2).
        case unlessActedOn
        /// Not here: whoever asks will ask again.
        case never
    }

    private let connections: Connections
    private let limits: Limits
    private let headers: [(name: String, value: String)]
    /// When nothing may be waited for any more.
    private let end: ContinuousClock.Instant?

    /// Makes a way to authorities; `close` ends it.
    ///
    /// - Throws: `invalidRequest` if a file of certificates or the proxy's name can't be used.
    package init(_ settings: Settings) throws(OAuthError) {
        connections = try Connections(settings)
        limits = settings.limits
        headers = [("accept", "application/json"), ("user-agent", settings.userAgent)] + settings.headers
        end = settings.whole.map { .now + $0 }
    }

    /// Ends the connections.
    package func close() { connections.close() }

    /// The proxy that a URL is asked through, as `HOST:PORT`; nil for none.
    package func proxy(for url: String) -> String? { connections.first.proxy(for: url) }

    /// Gets a document; the headers go before those of the settings.
    package func get(_ url: String, headers: [(String, String)] = []) async throws(OAuthError) -> HTTPAnswer {
        try await send(Outgoing(url: url, headers: headers), .harmless)
    }

    /// Posts a form.
    ///
    /// - Parameters:
    ///   - url: where to.
    ///   - fields: the form.
    ///   - headers: further headers, before those of the settings.
    ///   - repetition: whether it may be sent a second time.
    /// - Returns: the answer.
    /// - Throws: why there is no answer; a refusal is one.
    package func post(
        _ url: String, _ fields: [FormEncoding.Field], headers: [(String, String)] = [], _ repetition: Repetition
    ) async throws(OAuthError) -> HTTPAnswer {
        try await send(Outgoing(url: url, form: FormEncoding.encode(fields), headers: headers), repetition)
    }

    /// Posts a JSON document, in the same way.
    package func post(
        _ url: String, json: String, headers: [(String, String)] = [], _ repetition: Repetition
    ) async throws(OAuthError) -> HTTPAnswer {
        var request = Outgoing(url: url, form: json, headers: headers)
        request.mediaType = "application/json"
        return try await send(request, repetition)
    }

    /// Deletes what a URL names; twice does no harm.
    package func delete(_ url: String, headers: [(String, String)]) async throws(OAuthError) -> HTTPAnswer {
        var request = Outgoing(url: url, headers: headers)
        request.method = .DELETE
        return try await send(request, .harmless)
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

    /// An attempt that gave no answer to work with.
    private struct FailedAttempt: Error {
        var error: OAuthError
        /// How long to wait before a second attempt, if one may do better.
        var pause: Duration?
        /// Whether the authority may have done what was asked all the same.
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
        let host = (try? HTTPSAddress(request.url))?.environment ?? "the authority"
        let form = OutgoingForm(request.form)
        do throws(TransportFailure) {
            let answer = try await attempt(request, form, within: min(limits.whole, last - .now))
            if answer.status == 429 {
                return .failure(FailedAttempt(error: Self.throttling(answer, host: host), mayHaveActed: false))
            }
            guard answer.status >= 500 else { return .success(answer) }
            let pause = answer.retryAfter.map { Duration.seconds($0) } ?? limits.pause
            // 503 alone says that nothing was done (RFC 9110, 15.6.4).
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
                // Nothing was sent yet.
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
        let named = identified(request.request(with: form))
        let limits = limits
        do {
            return try await withDeadline(limit) {
                let response = try await client.execute(named, timeout: limits.whole.timeAmount)
                let body = try await response.body.collect(upTo: limits.body)
                return HTTPAnswer(
                    status: Int(response.status.code), headers: response.headers, body: Data(body.readableBytesView))
            }
        } catch {
            throw TransportFailure(error)
        }
    }

    /// The request with the headers that each has.
    private func identified(_ request: HTTPClientRequest) -> HTTPClientRequest {
        var request = request
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        return request
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

/// A request as it is to be sent, as often as it takes.
private struct Outgoing: Sendable {
    let url: String
    /// What is done if there is no body; a body is posted.
    var method = HTTPMethod.GET
    /// The body, which is a form unless `mediaType` says otherwise.
    var form: String?
    var mediaType = FormEncoding.mediaType
    var headers: [(String, String)] = []

    func request(with form: OutgoingForm) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url)
        request.method = method
        if let body = form.body {
            request.method = .POST
            request.headers.add(name: "content-type", value: mediaType)
            request.body = body
        }
        for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
        return request
    }
}

/// The form of one attempt; tells whether any of it may have been sent.
///
/// async-http-client asks for it once there is a connection and the request's head is written.
private final class OutgoingForm: Sendable {
    private let length: Int?
    private let rest: Mutex<ByteBuffer?>

    init(_ text: String?) {
        length = text?.utf8.count
        rest = Mutex(text.map { ByteBuffer(string: $0) })
    }

    /// Whether it is on its way; always for a request without one.
    var isTaken: Bool { rest.withLock { $0 == nil } }

    var body: HTTPClientRequest.Body? {
        length.map { .stream(AsyncStream { self.take() }, length: .known(Int64($0))) }
    }

    private func take() -> ByteBuffer? {
        rest.withLock { $0.take() }
    }
}

extension Duration {
    /// The same time, as NIO counts it.
    var timeAmount: TimeAmount {
        .nanoseconds(components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000)
    }
}
