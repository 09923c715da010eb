import Dispatch
import Glibc
import Synchronization

/// The signal that ended a conversation with a plugin.
public enum Interruption {
    /// Its number; nil if none came.
    public static var signal: Int32? { Interrupts.signal }
}

/// Turns the signals that would end the host into an event, for as long as a plugin runs or the person is asked.
///
/// A plugin has a session of its own, so a Ctrl-C in the terminal doesn't reach it; the host has to live on for the
/// moment it takes to stop the plugin. A signal that was ignored before (nohup) stays ignored.
package enum Interrupts {
    /// What is to be told of a signal that comes after so many.
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

    /// What the handler posts to, for a handler may call little else that wakes a thread; one waits for it.
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

    /// The last signal that came; nil if none did.
    static var signal: Int32? {
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
        // Made here: the handler must find it.
        _ = alarm
        return state.withLock { state in
            state.next += 1
            state.watchers[state.next] = Watcher(before: caught.load(ordering: .relaxed), feed: feed)
            if state.watchers.count == 1 { state.previous = handled() }
            return state.next
        }
    }

    /// Handles the signals that nothing handles yet; gives what was there.
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
