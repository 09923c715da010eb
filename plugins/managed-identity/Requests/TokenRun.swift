import Addresses
import Glibc
package import HTTP
import OAuth

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
        guard answer.status == 200 else { throw Refusal.error(answer, to: request, from: source, for: demand) }
        return try PlatformToken(answer, from: source, to: demand, now: answer.time ?? now())
    }

    /// Returns the first final answer, or the last one.
    private func answer(to request: PlatformRequest) async throws(IdentityError) -> HTTPAnswer {
        let schedule = RetrySchedule(for: source.platform)
        var retries = 0
        while true {
            let attempt = await once(request)
            guard let outcome = attempt.outcome, let pause = schedule.pause(after: outcome, retries: retries),
                pause < (outcome == .silence ? min(remaining, patience) : remaining)
            else { return try attempt.answer.mapError(error).get() }
            try await wait(pause, after: attempt.trouble)
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

    private func once(_ request: PlatformRequest) async -> Attempt {
        do throws(HTTPError) {
            return Attempt(answer: .success(try await send(request, max(min(limits.attempt, remaining), .zero))))
        } catch {
            return Attempt(answer: .failure(error))
        }
    }

    private struct Attempt {
        let answer: Result<HTTPAnswer, HTTPError>

        /// The outcome for the schedule; nil if retrying can't help.
        var outcome: RetrySchedule.Outcome? {
            switch answer {
            case .success(let answer): .status(answer.status, retryAfter: answer.retryAfter)
            case .failure(let error) where error.isSilence: .silence
            case .failure: nil
            }
        }

        var trouble: String {
            if case .success(let answer) = answer { "answered with HTTP \(answer.status)" } else { "did not answer" }
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
            Refusal.absent(from: source)
        }
    }
}

extension HTTPError {
    /// Whether there is a connection, but no answer in time.
    fileprivate var isSilence: Bool { [.timedOut, .closed].contains(reason) }
}
