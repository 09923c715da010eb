import CLinux
import Dispatch
import Glibc
import Secrets
import SystemPackage

/// The user's terminal, as opposed to stdin and stdout, which belong to the tool.
package struct ControllingTerminal: ~Copyable, Sendable {
    private let device: FileDescriptor
    /// The same device for non-blocking reads: a Ctrl-C can take away input that poll(2) has already announced.
    private let input: FileDescriptor
    private let console: Console

    /// Opens the controlling terminal, on which the console's status line shows as well; nil if there is none.
    package init?(_ console: Console) {
        guard let device = Self.open() else { return nil }
        guard let input = Self.open(.nonBlocking) else {
            try? device.close()
            return nil
        }
        self.device = device
        self.input = input
        self.console = console
    }

    deinit {
        try? device.close()
        try? input.close()
    }

    /// Whether this process has a controlling terminal.
    package static var isThere: Bool {
        guard let device = open() else { return false }
        try? device.close()
        return true
    }

    private static func open(_ options: FileDescriptor.OpenOptions = []) -> FileDescriptor? {
        try? FileDescriptor.open("/dev/tty", .readWrite, options: options.union(.closeOnExec))
    }

    /// Asks for a line; nil at end of input or if the task is cancelled.
    ///
    /// Text typed before the question counts as an answer only if `takesEarlier` is true, and never as a secret.
    /// With `staysHidden`, nothing that is typed after the answer shows either, until the next question or
    /// ``showTyping()``.
    package func ask(
        _ question: String, echo: Bool, takesEarlier: Bool = true, staysHidden: Bool = false
    ) async -> String? {
        console.pauseProgress(true)
        defer { console.pauseProgress(false) }
        // First: whoever answers as soon as the question shows must neither see a secret nor lose it.
        guard lanyard_terminal_take(device.rawValue, echo && takesEarlier ? 0 : 1) == 0 else { return nil }
        write(question)
        var editor = LineEditor(longest: Self.longestLine)
        let answer: String? = await read { byte -> String?? in
            switch editor.receive(byte) {
            case .more(let shown): if echo { write(shown) }
            case .line(let line): return line
            case .tooLong: write("\nlanyard: that line is too long; try again\n\(question)")
            case .end: return .some(nil)
            }
            return nil
        }
        if staysHidden, answer != nil { lanyard_terminal_hold() } else { lanyard_terminal_give_back() }
        // After a Ctrl-C, the shell may already have shown its prompt.
        if device.isInForeground { write("\n") }
        return answer
    }

    /// Ends what `ask` began if the answer stays hidden.
    package static func showTyping() { lanyard_terminal_give_back() }

    /// Lets the user choose from a menu that is redrawn with each key and then erased; nil at end of input or if the
    /// task is cancelled.
    func choose(from menu: Menu) async -> Int? {
        console.pauseProgress(true)
        defer { console.pauseProgress(false) }
        guard lanyard_terminal_take(device.rawValue, 0) == 0 else { return nil }
        var menu = menu
        write(menu.text)
        let choice = await read { byte -> Int?? in
            let rows = menu.rows
            switch menu.receive(byte) {
            case .unchanged: return nil
            case .changed: write(Menu.erasing(rows: rows) + menu.text)
            case .chosen(let index): return index
            case .end: return .some(nil)
            }
            return nil
        }
        lanyard_terminal_give_back()
        // After a Ctrl-C, the shell may already have shown its prompt.
        if device.isInForeground { write(choice == nil ? "\n" : Menu.erasing(rows: menu.rows)) }
        return choice
    }

    /// The longest line that is read, in bytes: what fits into one line to a plugin.
    static let longestLine = AttributeParser.longestLine - "value=\n".utf8.count

    /// Reads until a byte produces a result; nil at end of input, or if the task is cancelled first.
    private func read<Result>(_ receive: (UInt8) -> Result??) async -> Result? {
        while await input.hasInput() {
            var chunk = [UInt8](repeating: 0, count: 4096)
            let count: Int
            do {
                count = try chunk.withUnsafeMutableBytes { try input.read(into: $0) }
            } catch Errno.resourceTemporarilyUnavailable {
                continue
            } catch {
                return nil
            }
            guard count > 0 else { return nil }
            for byte in chunk[..<count] {
                if let result = receive(byte) { return result }
            }
        }
        return nil
    }

    private func write(_ text: String) { write(Array(text.utf8)) }

    private func write(_ bytes: [UInt8]) {
        if !bytes.isEmpty { _ = try? device.writeAll(bytes) }
    }
}

extension FileDescriptor {
    /// Waits for input or its end; false if the task is cancelled.
    fileprivate func hasInput() async -> Bool {
        guard let (stopped, stop) = try? FileDescriptor.pipe() else { return false }
        defer {
            try? stopped.close()
            try? stop.close()
        }
        // Keeps them from a browser that is started meanwhile.
        for end in [stopped, stop] { _ = fcntl(end.rawValue, F_SETFD, FD_CLOEXEC) }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue(label: "lanyard.terminal").async {
                    var ends = [self, stopped].map { pollfd(fd: $0.rawValue, events: Int16(POLLIN), revents: 0) }
                    while poll(&ends, nfds_t(ends.count), -1) < 0, errno == EINTR {}
                    continuation.resume()
                }
            }
        } onCancel: {
            _ = try? stop.writeAll([0])
        }
        return !Task.isCancelled
    }

    /// Whether this process's group is in the foreground of the terminal; false if it isn't this session's terminal.
    var isInForeground: Bool { tcgetpgrp(rawValue) == getpgrp() }
}
