internal import CSecret

/// A session for secrets that is asked for before any are wanted: agreeing on its key takes the provider longer than all
/// that is read meanwhile.
final class SessionOpening: @unchecked Sendable {
    private let context: OpaquePointer
    private let watchdog: Watchdog
    private var isOver = false

    /// Asks for a session, and sees to it that the wait for it ends.
    init(of service: OpaquePointer, _ watchdog: Watchdog) {
        self.watchdog = watchdog
        context = g_main_context_new()
        // The reply comes to the context that was its sender's; one that is nobody else's takes nobody's replies.
        g_main_context_push_thread_default(context)
        secret_service_ensure_session(
            service, watchdog.cancellable,
            { _, _, data in
                guard let data else { return }
                Unmanaged<SessionOpening>.fromOpaque(data).takeRetainedValue().isOver = true
            }, Unmanaged.passRetained(self).toOpaque())
        g_main_context_pop_thread_default(context)
    }

    deinit { g_main_context_unref(context) }

    /// Waits until the service has the session, or hasn't: then whoever needs one asks again, and is told why.
    ///
    /// Only one thread may wait at a time.
    func wait() {
        while !isOver { g_main_context_iteration(context, 1) }
    }
}
