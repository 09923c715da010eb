/// The schedule for polling the token endpoint (RFC 8628, 3.4 and 3.5).
struct DevicePolling: Sendable {
    /// The result of one poll.
    enum Answer: Sendable {
        case tokens(TokenResponse)
        case refused(ErrorResponse)
        /// The endpoint couldn't be reached, for this reason.
        case failed(OAuthError)
    }

    /// The result of polling.
    enum End: Sendable {
        case tokens(TokenResponse)
        case refused(ErrorResponse)
        case failed(OAuthError)
        case expired
    }

    /// Seconds between polls; it grows if the authority asks for that or can't be reached.
    private(set) var interval: Int
    /// Seconds until the code expires.
    let lifetime: Int
    /// Whether to wait before the first poll, too.
    let waitsFirst: Bool

    init(interval: Int, lifetime: Int, waitsFirst: Bool) {
        self.interval = interval
        self.lifetime = lifetime
        self.waitsFirst = waitsFirst
    }

    /// Whether polling continues after a refusal: true if the user simply hasn't finished yet.
    mutating func goesOn(after refusal: ErrorResponse) -> Bool {
        switch refusal.error {
        case "authorization_pending": return true
        case "slow_down":
            interval = min(max(interval + 5, refusal.members(Pace.self)?.interval?.value ?? 0), 300)
            return true
        default: return false
        }
    }

    /// Polls until there is a result.
    ///
    /// - Parameters:
    ///   - sleep: Waits for this number of seconds.
    ///   - poll: Polls once.
    /// - Returns: The result.
    /// - Throws: the error of `sleep` if the task is cancelled.
    mutating func run(
        sleep: (Int) async throws -> Void, poll: () async -> Answer
    ) async throws -> End {
        var waited = 0
        var waits = waitsFirst
        while true {
            if waits {
                guard waited + interval <= lifetime else { return .expired }
                try await sleep(interval)
                waited += interval
            }
            waits = true
            switch await poll() {
            case .tokens(let tokens): return .tokens(tokens)
            case .refused(let refusal): if !goesOn(after: refusal) { return .refused(refusal) }
            case .failed(let error):
                guard error.kind == .unavailable || error.kind == .throttled else { return .failed(error) }
                // Servers that don't answer are polled half as often (RFC 8628, 3.5).
                interval = min(max(error.wasAnswered ? interval : interval * 2, error.retryAfter ?? 0), 300)
            }
        }
    }

    private struct Pace: Decodable {
        var interval: LenientNumber?
    }
}
