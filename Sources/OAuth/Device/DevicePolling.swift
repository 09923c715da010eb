/// When to ask the token endpoint whether the person is done (RFC 8628, 3.4 and 3.5).
struct DevicePolling: Sendable {
    /// What one poll gave.
    enum Answer: Sendable {
        case tokens(TokenResponse)
        case refused(ErrorResponse)
        /// The endpoint could not be asked: what for.
        case failed(OAuthError)
    }

    /// How polling ended.
    enum End: Sendable {
        case tokens(TokenResponse)
        case refused(ErrorResponse)
        case failed(OAuthError)
        case expired
    }

    /// Seconds between polls; grows when the authority asks for it or cannot be reached.
    private(set) var interval: Int
    /// Seconds until the code expires.
    let lifetime: Int
    /// Whether the first poll waits, too.
    let waitsFirst: Bool

    init(interval: Int, lifetime: Int, waitsFirst: Bool) {
        self.interval = interval
        self.lifetime = lifetime
        self.waitsFirst = waitsFirst
    }

    /// What a refusal means: true if the person is only not done yet.
    mutating func goesOn(after refusal: ErrorResponse) -> Bool {
        switch refusal.error {
        case "authorization_pending": return true
        case "slow_down":
            interval = min(max(interval + 5, refusal.members(Pace.self)?.interval?.value ?? 0), 300)
            return true
        default: return false
        }
    }

    /// Polls until it ends one way or the other.
    ///
    /// - Parameters:
    ///   - sleep: waits so many seconds.
    ///   - poll: asks once.
    /// - Returns: how it ended.
    /// - Throws: what `sleep` throws if the task is cancelled.
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
                // Servers that don't answer are asked half as often (RFC 8628, 3.5).
                interval = min(max(error.wasAnswered ? interval : interval * 2, error.retryAfter ?? 0), 300)
            }
        }
    }

    private struct Pace: Decodable {
        var interval: LenientNumber?
    }
}
