import Glibc
import Synchronization
import SystemPackage

/// A terminal with a simulated user, for one program after another.
package final class PseudoTerminal: Sendable {
    /// The user's end.
    private let user: FileDescriptor
    /// The programs' end; it is kept open so that the terminal outlives each program.
    private let program: FileDescriptor
    private let path: String
    private let screen = Mutex("")

    /// TIOCSPTLCK and TIOCGPTN of ioctl_tty(2).
    private static let (setLock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)

    /// Creates a terminal of this size.
    package init(columns: UInt16 = 80, rows: UInt16 = 24) throws {
        user = try FileDescriptor.open("/dev/ptmx", .readWrite, options: [.init(rawValue: O_NOCTTY), .closeOnExec])
        var (number, isLocked): (CInt, CInt) = (0, 0)
        guard ioctl(user.rawValue, Self.setLock, &isLocked) == 0, ioctl(user.rawValue, Self.getNumber, &number) == 0
        else { throw Errno(rawValue: errno) }
        path = "/dev/pts/\(number)"
        program = try FileDescriptor.open(
            FilePath(path), .readWrite, options: [.init(rawValue: O_NOCTTY), .closeOnExec])
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(user.rawValue, UInt(TIOCSWINSZ), &size)
    }

    deinit {
        try? user.close()
        try? program.close()
    }

    /// Runs a program with this terminal as its stderr and controlling terminal, while the body acts as the user.
    ///
    /// stdin is `input` if given, as when git runs a helper. stdout is captured as for any other program.
    @discardableResult
    package func run(
        _ command: String, _ arguments: [String], input: String? = nil, environment: [String: String],
        user part: @escaping @Sendable (PseudoTerminal) async throws -> Void = { _ in }
    ) async throws -> Ended {
        // A session without a terminal gets the first one that its leader opens.
        let script = "exec 2<>\"$0\"; \(input == nil ? "exec 0<&2; " : "")exec \"$@\""
        let variables = environment.merging(["TERM": "xterm-256color", "LANG": "C.UTF-8"]) { own, _ in own }
        return try await withThrowingTaskGroup(of: Ended?.self) { group in
            group.addTask {
                try await TestSupport.run(
                    "/bin/sh", ["-c", script, self.path, command] + arguments, input: input ?? "",
                    environment: variables, timeout: .seconds(120))
            }
            group.addTask {
                try await part(self)
                return nil
            }
            let reader = Task { await read() }
            defer {
                reader.cancel()
                group.cancelAll()
            }
            var ended: Ended?
            for try await result in group { ended = result ?? ended }
            guard let ended else { throw Errno.noChildProcess }
            // Wait for pending output by writing a byte that no program writes.
            try program.writeAll([0])
            try await ends("\0")
            reader.cancel()
            await reader.value
            screen.withLock { _ = $0.popLast() }
            return ended
        }
    }

    /// Everything written to the screen so far, including escape codes.
    package var written: String { screen.withLock { $0 } }

    /// Everything written to the screen, without escape codes and with plain line endings.
    package var text: String { Self.text(written) }

    /// The visible lines on the screen; erased status lines are removed.
    package var lines: [String] {
        // Match by scalars, because a carriage return and a line feed form one character.
        let whole = written.replacing(#/[^\n]*\r\u{1B}\[K/#.matchingSemantics(.unicodeScalar), with: "")
        return Self.text(whole).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    private static func text(_ written: String) -> String {
        // A link's codes end with the terminator of OSC 8, others with a letter.
        var text = ""
        var isEscape = false
        for scalar in written.replacing(#/\u{1B}\]8;;[^\u{1B}]*\u{1B}\\/#, with: "").unicodeScalars where scalar != "\r"
        {
            if scalar == "\u{1B}" { isEscape = true }
            if !isEscape { text.unicodeScalars.append(scalar) }
            if isEscape, scalar.properties.isAlphabetic { isEscape = false }
        }
        return text
    }

    /// Waits until the screen contains a text, or contains it a number of times.
    package func sees(_ words: String, times: Int = 1, within patience: Duration = .seconds(60)) async throws {
        let end = ContinuousClock.now + patience
        while text.split(separator: words, omittingEmptySubsequences: false).count <= times {
            guard ContinuousClock.now < end else { throw Unseen(words: words, screen: text) }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Waits until the screen ends with a text.
    package func ends(_ words: String, within patience: Duration = .seconds(60)) async throws {
        let end = ContinuousClock.now + patience
        while !written.hasSuffix(words) {
            guard ContinuousClock.now < end else { throw Unseen(words: words, screen: text) }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Types or pastes keys; `\u{3}` is Ctrl-C.
    package func type(_ keys: String) throws {
        try user.writeAll(Array(keys.utf8))
    }

    /// The process group in the foreground.
    package var foreground: Int32 { tcgetpgrp(user.rawValue) }

    /// Whether the terminal edits and echoes lines itself, as it did before any program ran.
    package var isAsItWas: Bool {
        var settings = termios()
        guard tcgetattr(program.rawValue, &settings) == 0 else { return false }
        let wanted = tcflag_t(ICANON | ECHO | ISIG)
        return settings.c_lflag & wanted == wanted
    }

    private func read() async {
        var poll = pollfd(fd: user.rawValue, events: Int16(POLLIN), revents: 0)
        var pending: [UInt8] = []
        while true {
            guard Glibc.poll(&poll, 1, 0) > 0 else {
                if Task.isCancelled { return }
                try? await Task.sleep(for: .milliseconds(10))
                continue
            }
            var chunk = [UInt8](repeating: 0, count: 65_536)
            guard let count = try? chunk.withUnsafeMutableBytes({ try user.read(into: $0) }), count > 0 else {
                return
            }
            pending += chunk[..<count]
            // A character may arrive in two parts.
            guard let whole = String(validating: pending, as: UTF8.self) else { continue }
            pending = []
            screen.withLock { $0 += whole }
        }
    }

    /// The expected text never appeared on the screen.
    package struct Unseen: Error {
        let words: String
        let screen: String
    }
}
