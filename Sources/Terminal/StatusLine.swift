import Synchronization
import SystemPackage

/// The line at the end of the screen that shows what lanyard is doing.
///
/// It is redrawn in place, only on a terminal, and is gone once the work is done. All other output goes above it.
final class StatusLine: Sendable {
    private struct State {
        var text: (@Sendable () -> String)?
        var ticker: Task<Void, Never>?
        var reminder: Task<Void, Never>?
        /// The number of the current ticker, so that an outdated one stops; cancelling alone would let it draw once
        /// more.
        var number = 0
        var isDrawn = false
        /// Whether this process was in the terminal's foreground when the line was drawn.
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

    /// Shows a text, updated each second, until it is cleared or replaced; does nothing if lines can't be redrawn.
    ///
    /// Work that ends before the delay shows nothing.
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

    /// Writes a text above the line once, if the line's work still goes on after the delay; also if no line can be
    /// drawn.
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

    /// Hides the line while the user is asked something on the same screen.
    func pause(_ isPaused: Bool) {
        state.withLock { state in
            if isPaused { erase(&state) }
            state.isPaused = isPaused
        }
    }

    /// Writes other output above the line.
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
        // A line that wraps couldn't be redrawn.
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

    /// Whether a shell has shown its prompt over the line: Ctrl-C ends git sooner than the programs that git started.
    private func isSomebodyElses(_ state: State) -> Bool {
        state.isDrawn && state.wasInForeground && !descriptor.isInForeground
    }

    private func put(_ text: String) {
        _ = try? descriptor.writeAll(Array(text.utf8))
    }
}
