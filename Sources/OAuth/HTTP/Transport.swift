import Addresses
import FoundationEssentials
package import HTTP
package import JSON
import Secrets

extension HTTPAnswer {
    /// The body as JSON, a form as an object, because some authorities answer with forms; nil if it is neither.
    package var json: JSONValue? {
        guard FormEncoding.isType(first("content-type")), let text, text.utf8.first != UInt8(ascii: "{") else {
            return JSONValue(bytes: body)
        }
        return .object(FormEncoding.decode(text[...]).mapValues(JSONValue.string))
    }

    /// The body as text; nil if it isn't UTF-8.
    package var text: String? { String(validating: body, as: UTF8.self) }

    /// The time of the answer, by the authority's clock.
    var date: Date? { first("date").flatMap(Date.http) }

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
        let seconds = Int(text).map(Double.init) ?? Date.http(text)?.timeIntervalSince(date ?? .now)
        return seconds.map { Int(min(max($0, 0), 3_600).rounded(.up)) }
    }
}

/// HTTPS to authorities: limited in time and size, retried once, never redirected.
package struct Transport: Sendable {
    /// The limits of time and size.
    package struct Limits: Sendable {
        /// The limits of one connection.
        package var http = HTTPClient.Limits()
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
        do throws(NetworkSettingsError) {
            client = try HTTPClient(userAgent: settings.userAgent, settings.network, limits: settings.limits.http)
        } catch {
            throw OAuthError(error)
        }
        limits = settings.limits
        headers = [("accept", "application/json")] + settings.headers
        end = settings.whole.map { .now + $0 }
    }

    /// Returns the proxy for a URL as `HOST:PORT`; nil for none.
    package func proxy(for url: String) -> String? { client.proxy(for: url)?.text }

    /// Gets a document; these headers take precedence over those of the settings.
    package func get(_ url: String, headers: [(String, String)] = []) async throws(OAuthError) -> HTTPAnswer {
        try await send("GET", url, headers: headers, .harmless)
    }

    /// Posts a form.
    ///
    /// - Parameters:
    ///   - url: The URL to post to.
    ///   - fields: The form.
    ///   - headers: Additional headers, which take precedence over those of the settings.
    ///   - repetition: Whether the request may be sent a second time.
    /// - Returns: The answer, which may be a refusal.
    /// - Throws: the reason why there is no answer.
    package func post(
        _ url: String, _ fields: [FormEncoding.Field], headers: [(String, String)] = [], _ repetition: Repetition
    ) async throws(OAuthError) -> HTTPAnswer {
        try await send("POST", url, (FormEncoding.mediaType, FormEncoding.encode(fields)), headers: headers, repetition)
    }

    /// Posts a JSON document; otherwise like posting a form.
    package func post(
        _ url: String, json: String, headers: [(String, String)] = [], _ repetition: Repetition
    ) async throws(OAuthError) -> HTTPAnswer {
        try await post(url, json, as: "application/json", headers: headers, repetition)
    }

    /// Posts a text of any media type; otherwise like posting a form.
    package func post(
        _ url: String, _ text: String, as type: String, headers: [(String, String)] = [], _ repetition: Repetition
    ) async throws(OAuthError) -> HTTPAnswer {
        try await send("POST", url, (type, text), headers: headers, repetition)
    }

    /// Deletes the resource at a URL.
    package func delete(
        _ url: String, headers: [(String, String)], _ repetition: Repetition
    ) async throws(OAuthError) -> HTTPAnswer {
        try await send("DELETE", url, headers: headers, repetition)
    }

    private func send(
        _ method: String, _ url: String, _ content: (type: String, text: String)? = nil, headers: [(String, String)],
        _ repetition: Repetition
    ) async throws(OAuthError) -> HTTPAnswer {
        let usual = self.headers.filter { usual in !headers.contains { $0.0 == usual.name } }
        let all = (content.map { [("content-type", $0.type)] } ?? []) + headers + usual
        let request = HTTPRequest(
            method, url, headers: all.map { ($0.0, Secret($0.1)) }, body: content.map { Array($0.text.utf8) })
        let exchangeEnd = ContinuousClock.now + limits.exchange
        let last = end.map { min($0, exchangeEnd) } ?? exchangeEnd
        let first = await once(request, repetition, until: last)
        guard let pause = first.pause, pause <= limits.longestPause, ContinuousClock.now + pause < last else {
            return try first.answer.get()
        }
        do {
            try await Task.sleep(for: pause)
        } catch {
            throw .ended
        }
        return try await once(request, repetition, until: last).answer.get()
    }

    /// What came of a request, and the pause before a second one; nil if there is to be none.
    private typealias Sent = (answer: Result<HTTPAnswer, OAuthError>, pause: Duration?)

    private func once(
        _ request: HTTPRequest, _ repetition: Repetition, until last: ContinuousClock.Instant
    ) async -> Sent {
        let host = StrictURL(https: request.url)?.hostText ?? "the authority"
        func failure(_ error: OAuthError, pause: Duration?, mayHaveActed: Bool) -> Sent {
            let mayRepeat = repetition == .harmless || repetition == .unlessActedOn && !mayHaveActed
            return (.failure(error), mayRepeat ? pause : nil)
        }
        do throws(HTTPError) {
            let answer = try await client.send(request, within: min(limits.whole, last - .now))
            guard answer.status == 429 || answer.status >= 500 else { return (.success(answer), nil) }
            let pause = answer.retryAfter.map { Duration.seconds($0) } ?? limits.pause
            // Only 503 means that nothing was done (RFC 9110, 15.6.4); too many requests are no fewer in a moment.
            return failure(
                Self.error(answer, host: host), pause: answer.status == 429 ? nil : pause,
                mayHaveActed: answer.status != 503)
        } catch {
            let isWorthRetrying = [.timedOut, .closed, .unreachable(.timedOut)].contains(error.reason)
            return failure(
                OAuthError(error, host: host), pause: isWorthRetrying ? limits.pause : nil,
                mayHaveActed: error.mayHaveArrived)
        }
    }

    private static func error(_ answer: HTTPAnswer, host: String) -> OAuthError {
        var error =
            answer.status == 429
            ? OAuthError(.throttled, "\(host) says that there were too many requests")
            : OAuthError(.unavailable, "\(host) is not working at the moment (HTTP \(answer.status))")
        error.retryAfter = answer.retryAfter ?? (answer.status == 429 ? 60 : nil)
        error.wasAnswered = true
        if error.retryAfter == nil { error.hint = "try again later" }
        return error
    }
}
