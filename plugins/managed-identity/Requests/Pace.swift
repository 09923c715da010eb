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
