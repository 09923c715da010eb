internal import CSecret
internal import Dispatch

/// Ends a blocking call to the provider when its time is up, from a thread of its own.
///
/// libsecret's own patience is 50 seconds and more. It has to be stopped before the provider shows a prompt: cancelling
/// then dismisses the prompt, and gnome-keyring 42 aborts on that and loses every keyring the person had unlocked.
final class Watchdog {
    /// What the calls it guards must be given.
    let cancellable: OpaquePointer
    private let seconds: Double
    private var patrol: (thread: OpaquePointer, patrol: Patrol)?

    /// Starts to guard.
    init(seconds: Double) {
        self.seconds = seconds
        cancellable = g_cancellable_new()
        start()
    }

    deinit {
        stop()
        g_object_unref(UnsafeMutableRawPointer(cancellable))
    }

    /// Runs something that may take as long as a person takes; what comes after it has the whole deadline again.
    func paused<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        stop()
        defer {
            g_cancellable_reset(cancellable)
            start()
        }
        return try body()
    }

    private func start() {
        let patrol = Patrol(of: cancellable, until: .now() + seconds)
        let thread = g_thread_new(
            "lanyard-watchdog",
            { argument in
                guard let argument else { return nil }
                Unmanaged<Patrol>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(patrol).toOpaque())
        self.patrol = thread.map { ($0, patrol) }
    }

    private func stop() {
        guard let (thread, patrol) = patrol else { return }
        self.patrol = nil
        patrol.over.signal()
        // Joined, so that it can't cancel anything any more once this returns.
        _ = g_thread_join(thread)
    }
}

/// One watch: waits until it is over or until the time is up.
private final class Patrol {
    let over = DispatchSemaphore(value: 0)
    private let cancellable: OpaquePointer
    private let end: DispatchTime

    init(of cancellable: OpaquePointer, until end: DispatchTime) {
        self.cancellable = cancellable
        self.end = end
        _ = g_object_ref(UnsafeMutableRawPointer(cancellable))
    }

    deinit { g_object_unref(UnsafeMutableRawPointer(cancellable)) }

    func run() {
        if over.wait(timeout: end) == .timedOut { g_cancellable_cancel(cancellable) }
    }
}
