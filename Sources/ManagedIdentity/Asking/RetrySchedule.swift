/// After which answers a platform is asked again, and when.
package struct RetrySchedule: Sendable, Equatable {
    /// What came of a request.
    package enum Outcome: Sendable, Equatable {
        /// An answer with a status, and the seconds of its `Retry-After`.
        case status(Int, retryAfter: Int?)
        /// A connection, but no whole answer.
        case silence
    }

    private static let updating = 410
    /// While the metadata service is updated, which takes up to 70 seconds.
    private static let updatePauses = [Duration](repeating: .seconds(10), count: 7)

    /// The platform whose habits these are.
    package let platform: Platform

    /// Makes the schedule of a platform.
    package init(for platform: Platform) { self.platform = platform }

    /// How long to wait before the next request, of which so many were repeated already; nil if the outcome is final.
    package func pause(after outcome: Outcome, retries: Int) -> Duration? {
        let pauses = pauses(after: outcome)
        guard retries < pauses.count else { return nil }
        guard platform != .imds, case .status(_, let seconds?) = outcome else { return pauses[retries] }
        return max(pauses[retries], .seconds(seconds))
    }

    private func pauses(after outcome: Outcome) -> [Duration] {
        let status: Int? = if case .status(let status, _) = outcome { status } else { nil }
        switch (platform, status) {
        case (.imds, Self.updating): return Self.updatePauses
        case (.imds, nil), (.imds, 404), (.imds, 408), (.imds, 429), (.imds, .some(500...599)): return Self.doubling(3)
        case (.imds, _): return []
        case (.serviceFabric, 429): return Self.doubling(5)
        // An identity that isn't known there will not be.
        case (.serviceFabric, 404): return []
        case (_, nil), (_, 404), (_, 408), (_, 429), (_, 500), (_, 503), (_, 504):
            return [Duration](repeating: .seconds(1), count: 3)
        default: return []
        }
    }

    private static func doubling(_ count: Int) -> [Duration] { (0..<count).map { .seconds(1 << $0) } }
}
