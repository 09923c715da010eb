/// The schedule for polling the token endpoint (RFC 8628, 3.4 and 3.5).
struct DevicePolling: Sendable {
    /// Seconds between polls; it grows if the authority asks for that or can't be reached.
    private(set) var interval: Int
    /// Seconds until the code expires.
    let lifetime: Int
    /// Whether to wait before the first poll, too.
    let waitsFirst: Bool

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

    /// Polls until there are tokens.
    ///
    /// - Parameters:
    ///   - sleep: Waits for this number of seconds; throws if the task is cancelled.
    ///   - poll: Polls once.
    /// - Returns: The tokens.
    /// - Throws: `cancelled` if the code expires or the task is cancelled, or the error after which polling is pointless.
    mutating func run(
        sleep: (Int) async throws -> Void, poll: () async throws(OAuthError) -> TokenResponse
    ) async throws(OAuthError) -> TokenResponse {
        var waited = 0
        var waits = waitsFirst
        while true {
            if waits {
                guard waited + interval <= lifetime else { throw .codeExpired }
                do { try await sleep(interval) } catch { throw .ended }
                waited += interval
            }
            waits = true
            do throws(OAuthError) { return try await poll() } catch { try goOn(after: error) }
        }
    }

    /// Adapts the interval to a poll's error, or throws the error if polling doesn't continue after it.
    private mutating func goOn(after error: OAuthError) throws(OAuthError) {
        switch error.kind {
        case .refused(let refusal, _):
            guard goesOn(after: refusal) else { throw error }
        case .unavailable, .throttled:
            // Servers that don't answer are polled half as often (RFC 8628, 3.5).
            interval = min(max(error.wasAnswered ? interval : interval * 2, error.retryAfter ?? 0), 300)
        default: throw error
        }
    }

    private struct Pace: Decodable {
        @Lenient var interval: LenientNumber?
    }
}
