import Synchronization
import SystemPackage

/// The one line at the end of the screen that tells what is going on.
///
/// It is drawn over in place, only on a terminal, and is gone once the work is done. Whatever else is written goes above it.
final class StatusLine: Sendable {
    private struct State {
        var text: (@Sendable () -> String)?
        var ticker: Task<Void, Never>?
        var reminder: Task<Void, Never>?
        /// Tells a ticker that its time is over; cancelling alone would leave it one more draw.
        var number = 0
        var isDrawn = false
        /// Whether the terminal listened to this process when the line was drawn.
        var wasInForeground = false
        var isPaused = false
    }

    private let descriptor: FileDescriptor
    private let screen: Screen
    private let state = Mutex(State())

    init(_ descriptor: FileDescriptor, on screen: Screen) {
        self.descriptor = descriptor
        self.screen = screen
    }

    /// Shows a text, anew each second, until it is cleared or another is shown; nothing if lines can't be drawn over.
    ///
    /// What is over before the delay is never shown.
    func show(after delay: Duration, _ text: @escaping @Sendable () -> String) {
        state.withLock { state in
            stop(&state)
            guard screen.isTerminal else { return }
            let number = state.number
            state.ticker = Task { [weak self] in
                guard (try? await Task.sleep(for: delay)) != nil else { return }
                while self?.draw(text, number: number) == true {
                    guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
                }
            }
        }
    }

    /// Writes something above the line once, if what it shows still goes on then; also where no line can be drawn.
    func remind(after delay: Duration, _ text: @escaping @Sendable () -> String) {
        state.withLock { state in
            let number = state.number
            state.reminder = Task { [weak self] in
                guard (try? await Task.sleep(for: delay)) != nil else { return }
                self?.write(text() + "\n", number: number)
            }
        }
    }

    private func write(_ text: String, number: Int) {
        state.withLock { state in
            guard state.number == number, !isSomebodyElses(state) else { return }
            erase(&state)
            put(text)
            draw(&state)
        }
    }

    func clear() {
        state.withLock { stop(&$0) }
    }

    /// Keeps the line away while the person is asked something, which happens on the same screen.
    func pause(_ isPaused: Bool) {
        state.withLock { state in
            if isPaused { erase(&state) }
            state.isPaused = isPaused
        }
    }

    /// Writes something else, above the line.
    func aside(_ write: () -> Void) {
        state.withLock { state in
            erase(&state)
            write()
            draw(&state)
        }
    }

    private func draw(_ text: @escaping @Sendable () -> String, number: Int) -> Bool {
        state.withLock { state in
            guard state.number == number else { return false }
            state.text = text
            draw(&state)
            return true
        }
    }

    private func draw(_ state: inout State) {
        guard let text = state.text, !state.isPaused, !isSomebodyElses(state) else { return }
        // A line that wraps could not be drawn over.
        let room = max((screen.size?.columns ?? 80) - 1, 10)
        put("\r\u{1B}[K" + String(text().prefix(room)))
        state.isDrawn = true
        state.wasInForeground = descriptor.isInForeground
    }

    private func stop(_ state: inout State) {
        state.number += 1
        state.ticker?.cancel()
        state.ticker = nil
        state.reminder?.cancel()
        state.reminder = nil
        state.text = nil
        erase(&state)
    }

    private func erase(_ state: inout State) {
        guard state.isDrawn else { return }
        if !isSomebodyElses(state) { put("\r\u{1B}[K") }
        state.isDrawn = false
    }

    /// Whether a shell has shown its prompt where the line was: Ctrl-C ends git sooner than what git started.
    private func isSomebodyElses(_ state: State) -> Bool {
        state.isDrawn && state.wasInForeground && !descriptor.isInForeground
    }

    private func put(_ text: String) {
        _ = try? descriptor.writeAll(Array(text.utf8))
    }
}
