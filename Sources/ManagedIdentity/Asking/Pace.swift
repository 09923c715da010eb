/// How time passes while a platform is asked; tests have one of their own.
package struct Pace: Sendable {
    /// The time since some moment.
    package var elapsed: @Sendable () -> Duration
    /// Waits; ends early if the task is cancelled.
    package var wait: @Sendable (Duration) async throws -> Void

    /// Makes a pace.
    package init(
        elapsed: @escaping @Sendable () -> Duration, wait: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.elapsed = elapsed
        self.wait = wait
    }

    /// The system's.
    package static var real: Pace {
        let start = ContinuousClock.now
        return Pace(elapsed: { .now - start }, wait: { try await Task.sleep(for: $0) })
    }
}

extension Pace {
    /// How long whom is waited for.
    package struct Limits: Sendable {
        /// A connection: who is on this machine or one hop away takes no longer.
        package var connect = Duration.seconds(4)
        /// One request.
        package var attempt = Duration.seconds(8)
        /// All requests to a service that takes them and says nothing: nobody waits for such a one any longer.
        package var unanswered = Duration.seconds(8)
        /// All requests and pauses: less than the two minutes that the host waits.
        package var whole = Duration.seconds(110)
        /// Saying nothing: half of what the host allows.
        package var silence = Duration.seconds(30)
        /// A probe, connection included.
        package var probe = Duration.seconds(1)

        /// Makes the usual limits.
        package init() {}
    }
}
