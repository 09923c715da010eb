internal import CGLib
internal import Dispatch
internal import Glibc
internal import Synchronization

/// Cancels a blocking call to the provider when its time is up, from a thread that all calls share.
///
/// Each reply gives the next call the full time again: a provider that serves many clients answers late, but one that
/// hangs never answers. libsecret's own timeout is 50 seconds or more. The watchdog has to be stopped before the
/// provider shows a prompt: cancelling dismisses the prompt, upon which gnome-keyring 42 aborts and loses every keyring
/// that the user had unlocked.
final class Watchdog: Sendable {
    /// The cancellable to pass to the calls; GCancellable can be used on several threads.
    nonisolated(unsafe) let cancellable: OpaquePointer
    private let deadline: Deadline

    /// Starts with the time limit of one call; all of them together may take ten times as long.
    init(seconds: Double) {
        deadline = Deadline(seconds: seconds)
        cancellable = g_cancellable_new()
        start()
    }

    deinit {
        stop()
        g_object_unref(UnsafeMutableRawPointer(cancellable))
    }

    /// Runs a body that may take as long as the user does; what follows has the full deadline again.
    func paused<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        stop()
        defer {
            g_cancellable_reset(cancellable)
            start()
        }
        return try body()
    }

    /// Calls the provider, and throws the error that it returns.
    func calling<Result>(_ body: (OpaquePointer, ErrorSlot) -> Result) throws(ServiceFailure) -> Result {
        defer { extend() }
        return try throwing { body(cancellable, $0) }
    }

    /// Calls the provider, and throws if it reports failure, with or without an error.
    func succeeding(_ body: (OpaquePointer, ErrorSlot) -> gboolean) throws(ServiceFailure) {
        guard try calling(body) != 0 else { throw ServiceFailure(.broken, detail: "libsecret refused the call") }
    }

    /// Gives the next call the full time.
    func extend() { deadline.extend() }

    private func start() {
        deadline.begin()
        WatchdogThread.shared.watch(cancellable, until: deadline)
    }

    private func stop() { WatchdogThread.shared.leave(cancellable) }
}

/// The deadline of a call; extending it doesn't wake the thread, which checks again at the old deadline.
private final class Deadline: Sendable {
    private let seconds: Double
    private let state = Mutex((end: DispatchTime.distantFuture, latest: DispatchTime.distantFuture))

    init(seconds: Double) { self.seconds = seconds }

    var end: DispatchTime { state.withLock(\.end) }

    func begin() { state.withLock { $0 = (.now() + seconds, .now() + seconds * 10) } }

    func extend() { state.withLock { $0.end = min(.now() + seconds, $0.latest) } }
}

/// The thread that watches the deadlines and cancels calls.
private final class WatchdogThread: Sendable {
    static let shared = WatchdogThread()

    private struct Watch {
        let cancellable: UInt
        let deadline: Deadline
    }

    private struct State {
        var watches: [Watch] = []
        var isRunning = false
    }

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    func watch(_ cancellable: OpaquePointer, until deadline: Deadline) {
        let mustStart = state.withLock { state in
            state.watches.append(Watch(cancellable: UInt(bitPattern: cancellable), deadline: deadline))
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if mustStart { start() } else { wake.signal() }
    }

    /// Stops watching; once this returns, the cancellable won't be cancelled any more.
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
            let next = state.withLock { state in state.watches.map(\.deadline.end).min() }
            guard wake.wait(timeout: next ?? .distantFuture) == .timedOut else { continue }
            cancelWhatIsOver()
        }
    }

    private func cancelWhatIsOver() {
        let now = DispatchTime.now()
        state.withLock { state in
            state.watches.removeAll { watch in
                guard watch.deadline.end <= now else { return false }
                // Its owner waits for the lock, because it must leave before it releases the reference.
                if let cancellable = OpaquePointer(bitPattern: watch.cancellable) { g_cancellable_cancel(cancellable) }
                return true
            }
        }
    }
}
