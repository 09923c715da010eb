internal import CGLib

/// A session for secrets that is requested before any are needed, because agreeing on its key takes the provider longer
/// than everything that is read meanwhile.
final class SessionOpening: @unchecked Sendable {
    /// The replies to other calls made meanwhile also arrive here, so this side computes its part of the key while the
    /// provider works.
    let replies = ReplyContext()
    private let reply: ReplyContext.Reply
    private let watchdog: Watchdog

    /// Requests a session; the watchdog limits the wait for it.
    init(of service: OpaquePointer, _ watchdog: Watchdog) {
        self.watchdog = watchdog
        reply = replies.begin { secret_service_ensure_session(service, watchdog.cancellable, $0, $1) }
    }

    /// Waits until the request has succeeded or failed; after a failure, the caller that needs a session requests it
    /// again and gets the error.
    ///
    /// Only one thread may wait at a time.
    func wait() { replies.wait(for: reply) }
}
