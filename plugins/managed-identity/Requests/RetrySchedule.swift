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
