internal import CGLib
internal import Dispatch
internal import Glibc
internal import Keyring
internal import Synchronization

/// Cancels a blocking call to the provider when its time is up, from a thread that all calls share.
///
/// Each reply gives the next call the full time again, and a provider that works all the time gets more: one that serves
/// many clients answers late, but one that hangs never answers. libsecret's own timeout is 50 seconds or more. The
/// watchdog has to be stopped before the provider shows a prompt, which takes as long as the user does.
final class Watchdog: Sendable {
    /// The cancellable to pass to the calls; GCancellable can be used on several threads.
    nonisolated(unsafe) let cancellable: OpaquePointer
    private let deadline: Deadline

    /// Starts with the time limit of one call.
    init(seconds: Double) {
        deadline = Deadline(seconds: seconds)
        cancellable = g_cancellable_new()
        start()
    }

    deinit {
        stop()
        g_object_unref(UnsafeMutableRawPointer(cancellable))
    }

    /// Gives a call more time while this provider is busy.
    func watch(_ provider: Provider) { deadline.watch(provider) }

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
    func calling<Result>(_ body: (OpaquePointer, ErrorSlot) -> Result) throws(KeyringError) -> Result {
        defer { extend() }
        do throws(KeyringError) {
            return try throwing { body(cancellable, $0) }
        } catch  where error.reason == .timedOut && deadline.isProviderBusy {
            throw KeyringError(.busy, detail: error.detail)
        }
    }

    /// Calls the provider, and throws if it reports failure, with or without an error.
    func succeeding(_ body: (OpaquePointer, ErrorSlot) -> gboolean) throws(KeyringError) {
        guard try calling(body) != 0 else { throw KeyringError(.broken, detail: "libsecret refused the call") }
    }

    /// Gives the next call the full time.
    func extend() { deadline.begin() }

    private func start() {
        deadline.begin()
        WatchdogThread.shared.watch(cancellable, until: deadline)
    }

    private func stop() { WatchdogThread.shared.leave(cancellable) }
}

/// The deadline of a call; extending it doesn't wake the thread, which looks again at the old deadline.
private final class Deadline: Sendable {
    private struct State {
        var start = DispatchTime.distantFuture
        var end = DispatchTime.distantFuture
        /// What the provider had done when half of the time was over.
        var activity: ProcessActivity?
        var hasLooked = false
        var isBusy = false
        var isOver = false
        var provider: Provider?
    }

    /// How many times as long a provider may take that is busy.
    private static let patience = 15.0

    private let seconds: Double
    private let state = Mutex(State())

    init(seconds: Double) { self.seconds = seconds }

    /// When to look at the provider next.
    var next: DispatchTime { state.withLock { next(in: $0) } }

    var isOver: Bool { state.withLock(\.isOver) }

    /// Whether the provider was at work when the call's time was over.
    var isProviderBusy: Bool { state.withLock(\.isBusy) }

    func watch(_ provider: Provider) { state.withLock { $0.provider = provider } }

    func begin() {
        state.withLock { state in
            state.start = .now()
            state.end = .now() + seconds
            (state.hasLooked, state.isBusy, state.isOver) = (false, false, false)
        }
    }

    /// Looks at what the provider does, halfway and at the end: that decides whether the call gets more time.
    func look() {
        // Asking the bus may take a moment; one that didn't answer isn't asked again.
        let provider = state.withLock { $0.hasLooked && $0.activity == nil ? nil : $0.provider }
        let now = provider?.activity
        state.withLock { state in
            guard next(in: state) <= .now() else { return }
            guard state.hasLooked else {
                (state.hasLooked, state.activity) = (true, now)
                return
            }
            state.isBusy = now?.isBusy(since: state.activity) ?? false
            guard state.isBusy, .now() < state.start + seconds * Self.patience else {
                state.isOver = true
                return
            }
            (state.end, state.activity) = (.now() + seconds, now)
        }
    }

    private func next(in state: State) -> DispatchTime {
        state.hasLooked || state.end == .distantFuture ? state.end : state.end - seconds / 2
    }
}

/// The thread that watches the deadlines and cancels calls.
private final class WatchdogThread: Sendable {
    static let shared = WatchdogThread()

    private struct State {
        var watches: [(cancellable: UInt, deadline: Deadline)] = []
        var isRunning = false
    }

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    func watch(_ cancellable: OpaquePointer, until deadline: Deadline) {
        let mustStart = state.withLock { state in
            state.watches.append((UInt(bitPattern: cancellable), deadline))
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
            let next = state.withLock { state in state.watches.map(\.deadline.next).min() }
            guard wake.wait(timeout: next ?? .distantFuture) == .timedOut else { continue }
            // Nobody must wait for the lock meanwhile.
            for deadline in state.withLock({ $0.watches.map(\.deadline) }) where deadline.next <= .now() {
                deadline.look()
            }
            cancelWhatIsOver()
        }
    }

    private func cancelWhatIsOver() {
        state.withLock { state in
            state.watches.removeAll { watch in
                guard watch.deadline.isOver else { return false }
                // Its owner waits for the lock, because it must leave before it releases the reference.
                if let cancellable = OpaquePointer(bitPattern: watch.cancellable) { g_cancellable_cancel(cancellable) }
                return true
            }
        }
    }
}

/// What a process has done so far, which tells one that is busy with other clients from one that hangs.
struct ProcessActivity {
    /// The time that it has computed, in ticks of the clock.
    private let ticks: UInt64
    /// The state's letter in proc(5).
    private let state: UInt8

    /// Ticks of a hundredth of a second each, as a rule; fewer are what a process does that only waits.
    private static let least: UInt64 = 3

    /// Looks at a process; nil if it is gone or hidden.
    init?(of process: Int32) {
        guard let text = Self.contents(of: "/proc/\(process)/stat"), let end = text.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let fields = text[(end + 1)...].split(separator: UInt8(ascii: " "))
        guard fields.count > 12, let letter = fields[0].first,
            let user = UInt64(String(decoding: fields[11], as: UTF8.self)),
            let system = UInt64(String(decoding: fields[12], as: UTF8.self))
        else { return nil }
        state = letter
        ticks = user &+ system
    }

    /// Whether it works on something, going by what it had done before.
    func isBusy(since before: ProcessActivity?) -> Bool {
        if let before, ticks >= before.ticks + Self.least { return true }
        // Computing, or waiting for a disk.
        return state == UInt8(ascii: "R") || state == UInt8(ascii: "D")
    }

    private static func contents(of path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 2048)
        let count = read(file, &bytes, bytes.count)
        return count > 0 ? Array(bytes[..<count]) : nil
    }
}
