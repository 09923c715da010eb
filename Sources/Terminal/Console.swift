import Addresses
import Glibc
import Secrets
import Synchronization
package import SystemPackage

// The rules for everything that a user reads, in one place:
//
// - stdout carries the protocol or the command's result and nothing else; messages for users go to stderr.
// - A line starts with `lanyard: `. An error is one line `lanyard: error: …`, optionally followed by `lanyard: hint: …`
//   with a command to run. Lower case, no full stop. Only text to be copied, such as a URL or a code, is alone on its
//   line.
// - A line that is too long for the terminal is wrapped and indented; text to be copied stays whole (Hint).
// - A Message makes text from outside displayable. It never contains a secret.
// - Only the words `error:` and `hint:` and those of `doctor` are coloured; escape codes go to terminals only (Screen).
// - A step that takes longer than a second shows a status line on a terminal, which is gone afterwards (StatusLine).

/// The output of a command.
package struct Console: Sendable {
    /// The stream for results.
    package let output: FileDescriptor
    /// The stream for everything that people read.
    package let errors: FileDescriptor
    /// The terminal behind stderr.
    package let screen: Screen
    private let status: StatusLine
    private let delivery = Delivery()

    /// Creates a console for two streams; the environment says what the terminal behind stderr can do.
    package init(output: FileDescriptor, errors: FileDescriptor, environment: [String: String]) {
        self.output = output
        self.errors = errors
        screen = Screen(errors, environment: environment)
        status = StatusLine(errors, on: screen)
    }

    /// Writes a result to stdout as it is; it isn't an error if the reader has gone, and `undelivered` reports any
    /// other failure.
    package func write(_ bytes: [UInt8]) {
        status.clear()
        do { _ = try output.writeAll(bytes) } catch Errno.brokenPipe {} catch { delivery.fail(error) }
    }

    /// The reason why a result isn't on stdout, or not all of it; nil if it is.
    package var undelivered: String? { delivery.reason }

    /// Writes one line of a result to stdout.
    package func print(_ line: String = "") {
        write(Array(line.utf8) + [0x0A])
    }

    /// Writes a document and a line feed to stdout.
    package func print(_ document: [UInt8]) {
        write(document + [0x0A])
    }

    /// Shows the user a message and what they can do about it; a text that begins with blanks is already laid out.
    package func note(_ note: Hint) {
        let isLaidOut = note.text.utf8.first == UInt8(ascii: " ")
        show(isLaidOut ? "lanyard: \(note.line)" : laidOut(note))
    }

    /// Shows the user a message, unless this process has shown it before.
    package func noteOnce(_ hint: Hint) {
        if delivery.isFirst(hint.text) { note(hint) }
    }

    /// Shows the user a message in which a word links to a page, if the terminal supports links.
    package func note(_ line: Message, linking word: String, to url: String) {
        let text = laidOut(Hint(line))
        guard screen.hasLinks, let link = Hyperlink(word, to: url), let (before, after) = text.cut(atText: word)
        else { return show(text) }
        show(before + link.text + after)
    }

    /// Shows rows of a file, or of other text that is already laid out, as they are.
    ///
    /// If the terminal is too narrow, it breaks them itself, so they can still be copied. `lead` is on a row of its own
    /// unless there is only one row.
    package func show(rows: [String], after lead: Message? = nil) {
        guard let lead else { return rows.forEach { show(row: $0, by: 2) } }
        if rows.count == 1 { return show(row: "\(lead) \(rows[0])", by: 2) }
        show(row: lead.text, by: 2)
        for row in rows { show(row: row, by: 4) }
    }

    private func show(row: String, by blanks: Int) {
        let text = row.replacing(bytes: "\t", with: "    ").displayable(limit: 4000)
        show("lanyard: \(String(repeating: " ", count: blanks))\(text)")
    }

    /// Returns the number of rows that a note takes.
    package func rows(of line: Message) -> Int {
        laidOut(Hint(line)).utf8.count { $0 == UInt8(ascii: "\n") } + 1
    }

    private func laidOut(_ note: Hint) -> String {
        "lanyard: \(note.wrapped(columns: screen.columns, indent: 9))"
    }

    /// Writes commands for the program that reads stderr, as they are and in one piece, so that no other output gets
    /// between them.
    package func command(_ lines: String) {
        guard !lines.isEmpty else { return }
        status.aside { _ = try? errors.writeAll(Array(lines.utf8)) }
    }

    /// Shows the user an error.
    package func error(_ message: Message) {
        status.clear()
        let text = message.text.wrapped(columns: screen.columns, indent: 9, from: 16)
        show("lanyard: \(label("error:", colour: 31)) \(text)")
    }

    /// Shows the user what to do.
    package func hint(_ hint: Hint) {
        show("lanyard: \(label("hint:", colour: 36)) \(hint.wrapped(columns: screen.columns, indent: 9, from: 15))")
    }

    /// Shows the user what is wrong with the command line.
    package func error(_ usage: UsageError) {
        error(usage.message)
        for hint in usage.hints { self.hint(hint) }
    }

    // MARK: What is going on

    /// Shows what lanyard is doing if it takes longer than the delay.
    package func progress(_ text: Message, after delay: Duration = .seconds(1)) {
        status.show(after: delay) { "lanyard: \(text)…" }
    }

    /// Shows what lanyard is waiting for; without a terminal, writes it once if the wait takes longer than `limit`.
    package func progress(_ text: Message, after delay: Duration = .seconds(1), orSayingAfter limit: Duration) {
        progress(text, after: delay)
        if !screen.isTerminal { status.remind(after: limit) { "lanyard: \(text)…" } }
    }

    /// Shows what lanyard is waiting for and the time left, and a reminder if the wait takes longer than the delay.
    package func countDown(
        _ text: Message, seconds: Int, remindingAfter delay: Duration = .zero,
        of reminder: (@Sendable () -> String)? = nil
    ) {
        let end = ContinuousClock.now + .seconds(seconds)
        status.show(after: .zero) { "lanyard: \(text), \((end - .now).minutesAndSeconds) left; Ctrl-C cancels" }
        if let reminder { status.remind(after: delay, reminder) }
    }

    /// Removes what `progress` and `countDown` show.
    package func endProgress() {
        status.clear()
    }

    /// Hides the status line while the user is typing.
    package func pauseProgress(_ isPaused: Bool) {
        status.pause(isPaused)
    }

    private func label(_ text: String, colour: Int) -> String {
        screen.hasColours ? "\u{1B}[1;\(colour)m\(text)\u{1B}[0m" : text
    }

    /// Shows the user text as it is, such as text to be copied or a protocol's lines.
    package func show(_ text: String) {
        status.aside { _ = try? errors.writeAll(Array("\(text)\n".utf8)) }
    }
}

/// What a process has delivered, shared by all copies of its console.
private final class Delivery: Sendable {
    private let failure = Mutex<String?>(nil)
    /// The messages that are shown once only, and have been.
    private let shown = Mutex<[String]>([])

    /// The reason for the first failed write.
    var reason: String? { failure.withLock(\.self) }

    func fail(_ error: any Error) {
        failure.withLock { reason in reason = reason ?? "\(error)" }
    }

    /// Whether a message comes for the first time; it counts as shown from then on.
    func isFirst(_ text: String) -> Bool {
        shown.withLock { texts in
            defer { texts.append(text) }
            return !texts.contains(text)
        }
    }
}

extension Duration {
    /// The time left of a wait, such as `13:42`.
    var minutesAndSeconds: String {
        // Rounded up, so that a whole minute starts as one.
        let seconds = max(0, components.seconds + (components.attoseconds > 0 ? 1 : 0))
        let rest = seconds % 60
        return "\(seconds / 60):\(rest < 10 ? "0" : "")\(rest)"
    }
}

extension Console {
    /// The number of columns of the terminal behind stdout; nil if stdout is not a terminal, and its reader wants whole lines.
    package static var columns: Int? {
        var size = winsize()
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col >= 40
        return isKnown ? Int(size.ws_col) : 80
    }
}
