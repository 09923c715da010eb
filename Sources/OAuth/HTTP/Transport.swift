import Addresses
import FoundationEssentials
package import HTTP
import Secrets

extension HTTPAnswer {
    /// Decodes the body as JSON of this type; nil if it isn't.
    package func json<Value: Decodable>(_ type: Value.Type) -> Value? {
        try? JSONDecoder().decode(type, from: jsonBody)
    }

    /// The body; a form as JSON, because some authorities answer with forms.
    var jsonBody: Data {
        guard FormEncoding.isType(first("content-type")), let text, text.utf8.first != UInt8(ascii: "{"),
            let json = try? JSONEncoder().encode(FormEncoding.decode(text[...]))
        else { return Data(body) }
        return json
    }

    /// The body as text; nil if it isn't UTF-8.
    package var text: String? { String(validating: body, as: UTF8.self) }

    /// The time of the answer, by the authority's clock.
    var date: Date? { first("date").flatMap(HTTPDate.parse) }

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
        guard let text = first("retry-after") else { return nil }
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
        /// The way to the authorities.
        package var network: NetworkSettings
        /// The limits of time and size.
        package var limits: Limits
        /// The time limit of all requests together; nil if a user may be involved in between.
        package var whole: Duration?

        /// Creates settings with no additional headers or certificates.
        package init(userAgent: String, environment: [String: String], limits: Limits = Limits()) {
            self.userAgent = userAgent
            network = NetworkSettings(environment: environment)
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

    private let client: HTTPClient
    private let limits: Limits
    private let headers: [(name: String, value: String)]
    /// The time at which all waiting ends.
    private let end: ContinuousClock.Instant?

    /// Creates a transport to authorities.
    ///
    /// - Throws: `unusableSetting` if a certificate file or the proxy's name can't be used.
    package init(_ settings: Settings) throws(OAuthError) {
        var bounds = HTTPClient.Limits()
        (bounds.connect, bounds.body) = (settings.limits.connect, settings.limits.body)
        do throws(NetworkSettingsProblem) {
            client = try HTTPClient(userAgent: settings.userAgent, settings.network, limits: bounds)
        } catch {
            throw OAuthError(error)
        }
        limits = settings.limits
        headers = [("accept", "application/json")] + settings.headers
        end = settings.whole.map { .now + $0 }
    }

    /// Returns the proxy for a URL as `HOST:PORT`; nil for none.
    package func proxy(for url: String) -> String? { client.proxy(for: url)?.text }

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
        request.method = "DELETE"
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
        do throws(HTTPError) {
            let answer = try await client.send(request.request(headers), within: min(limits.whole, last - .now))
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
            return .failure(
                FailedAttempt(error: OAuthError(error, host: host), pause: pause, mayHaveActed: error.mayHaveArrived))
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
    var method = "GET"
    /// The body, a form unless `mediaType` says otherwise.
    var form: String?
    var mediaType = FormEncoding.mediaType
    var headers: [(String, String)] = []

    /// Returns the request with the headers of every request.
    func request(_ common: [(name: String, value: String)]) -> HTTPRequest {
        let type = form.map { _ in [("content-type", mediaType)] } ?? []
        return HTTPRequest(
            form == nil ? method : "POST", url,
            headers: (type + headers + common).map { (name: $0.0, value: Secret($0.1)) },
            body: form.map { Array($0.utf8) })
    }
}
