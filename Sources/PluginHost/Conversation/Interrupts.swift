import Dispatch
import Glibc
import Synchronization

/// Turns signals that would end the host into events while a plugin runs or the user is asked.
///
/// A plugin has its own session, so Ctrl-C in the terminal doesn't reach it: the host has to live long enough to stop
/// the plugin. A signal that was ignored before (nohup) stays ignored.
package enum Interrupts {
    /// A watcher to notify of signals that come after the first `before`.
    private struct Watcher {
        let before: Int
        let feed: AsyncStream<Void>.Continuation
    }

    private struct State {
        var watchers: [Int: Watcher] = [:]
        var next = 0
        var previous: [(Int32, sigaction)] = []
    }

    private static let caught = Atomic<Int>(0)
    private static let last = Atomic<Int32>(0)
    private static let state = Mutex(State())

    /// The semaphore that the signal handler posts, as it may call little else that wakes a thread; one thread waits
    /// for it.
    private nonisolated(unsafe) static let alarm: UnsafeMutablePointer<sem_t> = {
        let alarm = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
        sem_init(alarm, 0, 0)
        DispatchQueue(label: "lanyard.signals").async {
            while true {
                if sem_wait(Interrupts.alarm) == 0 { Interrupts.tell() }
            }
        }
        return alarm
    }()

    /// The last signal that was received, which may have interrupted a conversation; nil if there was none.
    package static var signal: Int32? {
        let number = last.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }

    /// Calls the closure once when a signal comes; cancel the task to stop watching.
    package static func watch(_ interrupted: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        let (signals, feed) = AsyncStream.makeStream(of: Void.self)
        let number = install(feed)
        return Task {
            defer { restore(number) }
            for await _ in signals { return interrupted() }
        }
    }

    private static func tell() {
        let caught = caught.load(ordering: .relaxed)
        state.withLock { state in
            for watcher in state.watchers.values where caught != watcher.before { watcher.feed.yield() }
        }
    }

    private static func install(_ feed: AsyncStream<Void>.Continuation) -> Int {
        // Create it now, because the handler can't.
        _ = alarm
        return state.withLock { state in
            state.next += 1
            state.watchers[state.next] = Watcher(before: caught.load(ordering: .relaxed), feed: feed)
            if state.watchers.count == 1 { state.previous = handled() }
            return state.next
        }
    }

    /// Installs handlers for the signals that have none; returns the previous actions.
    private static func handled() -> [(Int32, sigaction)] {
        var previous: [(Int32, sigaction)] = []
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            var old = sigaction()
            sigaction(number, nil, &old)
            // SIG_DFL is the null pointer.
            guard old.__sigaction_handler.sa_handler == nil else { continue }
            var new = sigaction()
            new.sa_flags = SA_RESTART
            new.__sigaction_handler.sa_handler = { number in
                Interrupts.last.store(number, ordering: .relaxed)
                Interrupts.caught.add(1, ordering: .relaxed)
                sem_post(Interrupts.alarm)
            }
            sigaction(number, &new, nil)
            previous.append((number, old))
        }
        return previous
    }

    private static func restore(_ number: Int) {
        state.withLock { state in
            state.watchers[number] = nil
            guard state.watchers.isEmpty else { return }
            for (number, old) in state.previous {
                var old = old
                sigaction(number, &old, nil)
            }
            state.previous.removeAll()
        }
    }
}
