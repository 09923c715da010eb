import Glibc
import Synchronization

/// The signal that ended a conversation with a plugin.
public enum Interruption {
    /// Its number; nil where none came.
    public static var signal: Int32? { Interrupts.signal }
}

/// Turns the signals that would end the host into an event, for as long as a plugin runs or the person is asked.
///
/// A plugin has a session of its own, so a Ctrl-C in the terminal doesn't reach it; the host has to live on for the
/// moment it takes to stop the plugin. A signal that was ignored before (nohup) stays ignored.
package enum Interrupts {
    private static let caught = Atomic<Int>(0)
    private static let last = Atomic<Int32>(0)
    private static let watchers = Mutex<(count: Int, previous: [(Int32, sigaction)])>((0, []))

    /// The last signal that came; nil where none did.
    static var signal: Int32? {
        let number = last.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }

    /// Calls the closure once when a signal comes; cancel the task to stop watching.
    package static func watch(_ interrupted: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        install()
        let before = caught.load(ordering: .relaxed)
        return Task {
            defer { restore() }
            while !Task.isCancelled {
                if caught.load(ordering: .relaxed) != before { return interrupted() }
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    private static func install() {
        watchers.withLock { state in
            state.count += 1
            guard state.count == 1 else { return }
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
                }
                sigaction(number, &new, nil)
                state.previous.append((number, old))
            }
        }
    }

    private static func restore() {
        watchers.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return }
            for (number, old) in state.previous {
                var old = old
                sigaction(number, &old, nil)
            }
            state.previous.removeAll()
        }
    }
}
