internal import CGLib

/// A session for secrets that is asked for before any are wanted: agreeing on its key takes the provider longer than all
/// that is read meanwhile.
final class SessionOpening: @unchecked Sendable {
    /// Whatever else is called for meanwhile arrives here, too, so that this side's part of the key is computed while the provider works.
    let replies = ReplyContext()
    private let reply: ReplyContext.Reply
    private let watchdog: Watchdog

    /// Asks for a session, and sees to it that the wait for it ends.
    init(of service: OpaquePointer, _ watchdog: Watchdog) {
        self.watchdog = watchdog
        reply = replies.begin { secret_service_ensure_session(service, watchdog.cancellable, $0, $1) }
    }

    /// Waits until the service has the session, or hasn't: then whoever needs one asks again, and is told why.
    ///
    /// Only one thread may wait at a time.
    func wait() { replies.wait(for: reply) }
}
