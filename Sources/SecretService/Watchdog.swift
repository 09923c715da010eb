internal import CSecret
internal import Dispatch
internal import Glibc
internal import Synchronization

/// Ends a blocking call to the provider when its time is up, from a thread that all calls share.
///
/// libsecret's own patience is 50 seconds and more. It has to be stopped before the provider shows a prompt: cancelling
/// then dismisses the prompt, and gnome-keyring 42 aborts on that and loses every keyring the person had unlocked.
final class Watchdog: Sendable {
    /// What the calls it guards must be given; GCancellable is made to be used by several threads.
    nonisolated(unsafe) let cancellable: OpaquePointer
    private let seconds: Double

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

    private func start() { WatchdogThread.shared.watch(cancellable, until: .now() + seconds) }

    private func stop() { WatchdogThread.shared.leave(cancellable) }
}

/// The thread that looks at the clock, and what it has to cancel when.
private final class WatchdogThread: Sendable {
    static let shared = WatchdogThread()

    private struct Watch {
        let cancellable: UInt
        let end: DispatchTime
    }

    private struct State {
        var watches: [Watch] = []
        var isRunning = false
    }

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    func watch(_ cancellable: OpaquePointer, until end: DispatchTime) {
        let mustStart = state.withLock { state in
            state.watches.append(Watch(cancellable: UInt(bitPattern: cancellable), end: end))
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if mustStart { start() } else { wake.signal() }
    }

    /// Once this returns the cancellable is not cancelled any more.
    func leave(_ cancellable: OpaquePointer) {
        state.withLock { $0.watches.removeAll { $0.cancellable == UInt(bitPattern: cancellable) } }
    }

    private func start() {
        var thread = pthread_t()
        let status = pthread_create(&thread, nil, { _ in WatchdogThread.shared.run() }, nil)
        if status == 0 { pthread_detach(thread) }
    }

    private func run() -> Never {
        while true {
            let next = state.withLock { state in
                state.watches.map(\.end).min { $0.uptimeNanoseconds < $1.uptimeNanoseconds }
            }
            guard wake.wait(timeout: next ?? .distantFuture) == .timedOut else { continue }
            cancelWhatIsOver()
        }
    }

    private func cancelWhatIsOver() {
        let now = DispatchTime.now().uptimeNanoseconds
        state.withLock { state in
            for watch in state.watches where watch.end.uptimeNanoseconds <= now {
                // Its owner, which must leave before it gives the reference back, waits for the lock.
                if let cancellable = OpaquePointer(bitPattern: watch.cancellable) { g_cancellable_cancel(cancellable) }
            }
            state.watches.removeAll { $0.end.uptimeNanoseconds <= now }
        }
    }
}
