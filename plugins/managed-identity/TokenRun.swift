import Addresses
import Glibc
package import HTTP
import OAuth
package import Secrets

/// Requests a token from a platform, with retries according to its schedule.
package struct TokenRun: Sendable {
    /// Sends a request once.
    package typealias Send =
        @Sendable (_ request: PlatformRequest, _ limit: Duration) async throws(HTTPError) -> HTTPAnswer

    private let source: any TokenSource
    private let send: Send
    private let pace: Pace
    private let limits: Pace.Limits
    private let start: Duration
    private let progress: @Sendable (String) async -> Void

    /// Creates a run; its time limit starts now.
    package init(
        _ source: any TokenSource, pace: Pace, limits: Pace.Limits,
        progress: @escaping @Sendable (String) async -> Void, send: @escaping Send
    ) {
        self.source = source
        self.pace = pace
        self.limits = limits
        self.progress = progress
        self.send = send
        start = pace.elapsed()
    }

    /// Gets a token.
    ///
    /// - Parameters:
    ///   - demand: The identity and the resource.
    ///   - now: Returns the seconds since 1970, for an answer without a date.
    /// - Returns: A token that hasn't expired.
    /// - Throws: the reason why there is none.
    package func token(_ demand: Demand, now: @Sendable () -> Int = { time(nil) }) async throws(IdentityError)
        -> PlatformToken
    {
        var request = try source.request(for: demand)
        var answer = try await answer(to: request)
        if let next = try source.request(after: answer, to: request) {
            request = next
            answer = try await self.answer(to: next)
        }
        guard answer.status == 200 else { throw IdentityError.refusal(answer, to: request, from: source, for: demand) }
        return try PlatformToken(answer, from: source, to: demand, now: answer.time ?? now())
    }

    /// Returns the first final answer, or the last one.
    private func answer(to request: PlatformRequest) async throws(IdentityError) -> HTTPAnswer {
        let schedule = RetrySchedule(for: source.platform)
        var retries = 0
        while true {
            let answer = await once(request)
            guard let outcome = RetrySchedule.Outcome(answer),
                let pause = schedule.pause(after: outcome, retries: retries),
                pause < (outcome == .silence ? min(remaining, patience) : remaining)
            else { return try answer.mapError(error).get() }
            let trouble =
                if case .success(let answer) = answer { "answered with HTTP \(answer.status)" } else {
                    "did not answer"
                }
            try await wait(pause, after: trouble)
            retries += 1
        }
    }

    /// Waits, and reports progress often enough for the host not to assume that the plugin hangs.
    private func wait(_ pause: Duration, after trouble: String) async throws(IdentityError) {
        var rest = pause
        while rest > .zero {
            await progress("\(source.platform.words) \(trouble); asking again in \(rest.components.seconds) s")
            let part = min(rest, limits.silence)
            do { try await pace.wait(part) } catch { throw self.error(for: HTTPError(.cancelled)) }
            rest -= part
        }
    }

    private var passed: Duration { pace.elapsed() - start }
    private var remaining: Duration { limits.whole - passed }
    private var patience: Duration { limits.unanswered - passed }

    private func once(_ request: PlatformRequest) async -> Result<HTTPAnswer, HTTPError> {
        do throws(HTTPError) {
            return .success(try await send(request, max(min(limits.attempt, remaining), .zero)))
        } catch {
            return .failure(error)
        }
    }

    private func error(for failure: HTTPError) -> IdentityError {
        let who = source.platform.words
        return switch failure.reason {
        case .cancelled: IdentityError(.cancelled, "the request was cancelled")
        case .timedOut, .closed:
            IdentityError(.unavailable, "\(who) did not answer in time", hint: "try again in a few minutes")
        case .certificate where source.pin != nil:
            IdentityError(
                .unavailable, "the certificate of \(who) is not the one that IDENTITY_SERVER_THUMBPRINT names",
                hint: "check that the variables are the cluster's own, and that nothing else listens at the endpoint")
        case .certificate:
            IdentityError(
                .unavailable, "the certificate of \(who) is not trusted",
                hint: "name the file of the authority that issued it as ca-file in lanyard's configuration")
        case .tooLarge, .garbled, .withoutTLS, .outdatedTLS:
            IdentityError(
                .invalidResponse, "\(who) answered with something that is not a token",
                hint: "check that nothing else answers in its place")
        case .refusedByProxy, .proxyWantsPassword, .unreachable, .library, .lacking, .ownCertificate, .invalid:
            IdentityError.absent(from: source)
        }
    }
}

extension HTTPError {
    /// Whether there is a connection, but no answer in time.
    fileprivate var isSilence: Bool { [.timedOut, .closed].contains(reason) }
}

/// The clock for requests to a platform; tests replace it.
package struct Pace: Sendable {
    /// Returns the time since a fixed point.
    package var elapsed: @Sendable () -> Duration
    /// Waits; returns early by throwing if the task is cancelled.
    package var wait: @Sendable (Duration) async throws -> Void

    /// Creates a clock.
    package init(
        elapsed: @escaping @Sendable () -> Duration, wait: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.elapsed = elapsed
        self.wait = wait
    }

    /// The system's clock.
    package static var real: Pace {
        let start = ContinuousClock.now
        return Pace(elapsed: { .now - start }, wait: { try await Task.sleep(for: $0) })
    }
}

extension Pace {
    /// The time limits.
    package struct Limits: Sendable {
        /// Connecting: a service on this machine or one hop away takes no longer.
        package var connect = Duration.seconds(4)
        /// One request.
        package var attempt = Duration.seconds(8)
        /// All requests to a service that accepts them but never answers; more waiting wouldn't help.
        package var unanswered = Duration.seconds(8)
        /// All requests and pauses together: less than the two minutes that the host waits.
        package var whole = Duration.seconds(110)
        /// The time without a message to the host: half of what the host allows.
        package var silence = Duration.seconds(30)
        /// A probe, including the connection.
        package var probe = Duration.seconds(1)

        /// Creates the default limits.
        package init() {}
    }
}

/// The rules for when to repeat a request to a platform.
package struct RetrySchedule: Sendable, Equatable {
    /// The result of a request.
    package enum Outcome: Sendable, Equatable {
        /// An answer with a status, and the seconds of its `Retry-After`.
        case status(Int, retryAfter: Int?)
        /// A connection, but no complete answer.
        case silence
    }

    private static let updating = 410
    /// The pauses during an update of the metadata service, which takes up to 70 seconds.
    private static let updatePauses = [Duration](repeating: .seconds(10), count: 7)

    /// The platform that the rules are for.
    package let platform: Platform

    /// Creates the schedule for a platform.
    package init(for platform: Platform) { self.platform = platform }

    /// The longest pause that a platform may ask for; a longer one is for whoever reads the error, as with an authority.
    private static let longest = 10

    /// Returns the pause before the next request after this many retries; nil if the outcome is final.
    package func pause(after outcome: Outcome, retries: Int) -> Duration? {
        let pauses = pauses(after: outcome)
        guard retries < pauses.count else { return nil }
        guard case .status(_, let seconds?) = outcome else { return pauses[retries] }
        return seconds <= Self.longest ? max(pauses[retries], .seconds(seconds)) : nil
    }

    private func pauses(after outcome: Outcome) -> [Duration] {
        let status: Int? = if case .status(let status, _) = outcome { status } else { nil }
        switch (platform, status) {
        case (.imds, Self.updating): return Self.updatePauses
        case (.imds, nil), (.imds, 404), (.imds, 408), (.imds, 429), (.imds, .some(500...599)): return Self.doubling(3)
        case (.imds, _): return []
        case (.serviceFabric, 429): return Self.doubling(5)
        // An unknown identity won't appear later.
        case (.serviceFabric, 404): return []
        case (_, nil), (_, 404), (_, 408), (_, 429), (_, 500), (_, 503), (_, 504):
            return [Duration](repeating: .seconds(1), count: 3)
        default: return []
        }
    }

    private static func doubling(_ count: Int) -> [Duration] { (0..<count).map { .seconds(1 << $0) } }
}

/// A request to a service of the machine's platform, as a value.
package struct PlatformRequest: Sendable, Equatable {
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
        (self.url, self.query, self.headers, self.form) = (url, query, headers, form)
    }

    /// The HTTP method: POST with a form, else GET.
    package var method: String { form == nil ? "GET" : "POST" }
}

/// HTTP to a service of the machine's platform: never through a proxy, never redirected, one attempt per request,
/// limited in time and size.
///
/// Such a service has no name that a certificate could be for, so some use no TLS; they are on this machine or one hop
/// away. A pinned service is sent nothing until its certificate has proved to be the pinned one.
struct PlatformTransport: Sendable {
    let client: HTTPClient
    /// Headers of every request.
    let headers: [(name: String, value: String)]

    /// Sends a request once, and returns the answer, whatever its status.
    func send(_ request: PlatformRequest, within limit: Duration) async throws(HTTPError) -> HTTPAnswer {
        var fields = headers
        if request.form != nil { fields.append(("content-type", FormEncoding.mediaType)) }
        let own = request.headers.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        let names = Set(own.map { $0.name.lowercased() })
        return try await client.send(
            HTTPRequest(
                request.method, FormEncoding.append(Self.fields(request.query), to: request.url),
                headers: fields.filter { !names.contains($0.name) }.map { ($0.name, Secret($0.value)) } + own,
                body: request.form.map { Array(FormEncoding.encode(Self.fields($0)).utf8) }),
            within: limit)
    }

    private static func fields(_ values: [String: String]) -> [FormEncoding.Field] {
        values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

extension RetrySchedule.Outcome {
    /// Creates the outcome of a request; nil if trying again can't help.
    fileprivate init?(_ answer: Result<HTTPAnswer, HTTPError>) {
        switch answer {
        case .success(let answer): self = .status(answer.status, retryAfter: answer.retryAfter)
        case .failure(let error) where error.isSilence: self = .silence
        case .failure: return nil
        }
    }
}
