import Addresses
import Secrets
import Synchronization
package import SystemPackage

// The rules of what a person reads, kept in one place:
//
// - stdout carries the protocol or the command's result and nothing else; everything for people goes to stderr.
// - A line starts with `lanyard: `; an error is one line `lanyard: error: …`, then perhaps `lanyard: hint: …` with a
//   command to run. Lower case, no full stop. Only what is to be copied, a page or a code, stands alone on its line.
// - A line that is too long for the terminal goes on below itself, and what is to be copied stays whole (Hint).
// - What comes from elsewhere is made displayable first. A secret is never in a message.
// - Colour is for the words `error:` and `hint:`, and those of `doctor`, only; escape codes are for terminals only (Screen).
// - What is going on is told once it takes longer than a second, on a terminal, and is gone afterwards (StatusLine).

/// Where a command writes.
package struct Console: Sendable {
    /// Where results go.
    package let output: FileDescriptor
    /// Where everything for people goes.
    package let errors: FileDescriptor
    /// What the person sees of stderr.
    package let screen: Screen
    private let status: StatusLine
    private let delivery = Delivery()

    /// The console of these streams; the environment says what the terminal behind stderr can do.
    package init(output: FileDescriptor, errors: FileDescriptor, environment: [String: String]) {
        self.output = output
        self.errors = errors
        screen = Screen(errors, environment: environment)
        status = StatusLine(errors, on: screen)
    }

    /// Writes a result to stdout as it is; a reader that has gone is no error, and of what else fails `undelivered` tells.
    package func write(_ bytes: [UInt8]) {
        status.clear()
        do { _ = try output.writeAll(bytes) } catch Errno.brokenPipe {} catch { delivery.fail(error) }
    }

    /// Why a result is not on stdout, or not all of it; nil if it is.
    package var undelivered: String? { delivery.reason }

    /// Writes a line of a result to stdout.
    package func print(_ line: String = "") {
        write(Array(line.utf8) + [0x0A])
    }

    /// Writes a document of a result to stdout.
    package func print(_ document: [UInt8]) {
        write(document + [0x0A])
    }

    /// Tells the person something, and what they may do about it; what begins with blanks is laid out already.
    package func note(_ note: Hint) {
        let isLaidOut = note.text.utf8.first == UInt8(ascii: " ")
        say(isLaidOut ? "lanyard: \(note.line)" : laidOut(note))
    }

    /// Tells the person something.
    package func note(_ line: String) {
        note(Hint(line))
    }

    /// Tells the person something in which a word leads to a page, if the terminal shows links.
    package func note(_ line: String, linking word: String, to url: String) {
        let text = laidOut(Hint(line))
        guard screen.hasLinks, let link = Hyperlink(word, to: url), let range = text.utf8.firstRange(of: word.utf8)
        else { return say(text) }
        say(text[..<range.lowerBound] + link.text + text[range.upperBound...])
    }

    /// Shows rows of a file, or of anything else that is laid out, as they are.
    ///
    /// A terminal that is too narrow breaks them, so that they
    /// can be copied. What comes first is on a row of its own unless there is one row only.
    package func show(rows: [String], after lead: String? = nil) {
        guard let lead else { return rows.forEach { show(row: $0, by: 2) } }
        if rows.count == 1 { return show(row: "\(lead) \(rows[0])", by: 2) }
        show(row: lead, by: 2)
        for row in rows { show(row: row, by: 4) }
    }

    private func show(row: String, by blanks: Int) {
        let text = row.replacing(bytes: "\t", with: "    ").displayable(limit: 4000)
        say("lanyard: \(String(repeating: " ", count: blanks))\(text)")
    }

    /// How many rows a note takes.
    package func rows(of line: String) -> Int {
        laidOut(Hint(line)).utf8.count { $0 == UInt8(ascii: "\n") } + 1
    }

    private func laidOut(_ note: Hint) -> String {
        "lanyard: \(note.wrapped(columns: screen.columns, indent: 9))"
    }

    /// Shows the person what they are to copy, or a protocol's lines, as it is and alone on its line.
    package func show(_ text: String) {
        say(text)
    }

    /// Writes commands for whoever reads stderr, as they are and at once: nothing of others' gets between them.
    package func command(_ lines: String) {
        guard !lines.isEmpty else { return }
        status.aside { _ = try? errors.writeAll(Array(lines.utf8)) }
    }

    /// Tells the person what went wrong.
    package func error(_ message: String) {
        status.clear()
        let text = message.wrapped(columns: screen.columns, indent: 9, from: 16)
        say("lanyard: \(label("error:", colour: 31)) \(text)")
    }

    /// Tells the person what to do.
    package func hint(_ hint: Hint) {
        say("lanyard: \(label("hint:", colour: 36)) \(hint.wrapped(columns: screen.columns, indent: 9, from: 15))")
    }

    /// Tells the person what is wrong with the command line.
    package func error(_ usage: UsageError) {
        error(usage.message)
        for hint in usage.hints { self.hint(hint) }
    }

    // MARK: What is going on

    /// Tells what is going on, should it take longer than a second or the time given.
    package func progress(_ text: String, after delay: Duration = .seconds(1)) {
        status.show(after: delay) { "lanyard: \(text)…" }
    }

    /// Tells what is waited for and for how much longer; with a reminder, should that go on for so long.
    package func countDown(
        _ text: String, seconds: Int, remindingAfter delay: Duration = .zero,
        of reminder: (@Sendable () -> String)? = nil
    ) {
        let end = ContinuousClock.now + .seconds(seconds)
        status.show(after: .zero) { "lanyard: \(text), \((end - .now).minutesAndSeconds) left; Ctrl-C cancels" }
        if let reminder { status.remind(after: delay, reminder) }
    }

    /// Ends what `progress` and `countDown` show.
    package func endProgress() {
        status.clear()
    }

    /// Keeps what is going on from the screen while a person types on it.
    package func pauseProgress(_ isPaused: Bool) {
        status.pause(isPaused)
    }

    private func label(_ text: String, colour: Int) -> String {
        screen.hasColours ? "\u{1B}[1;\(colour)m\(text)\u{1B}[0m" : text
    }

    private func say(_ text: String) {
        status.aside { _ = try? errors.writeAll(Array("\(text)\n".utf8)) }
    }
}

/// What became of a process's results; all that hold it see the same.
private final class Delivery: Sendable {
    private let failure = Mutex<String?>(nil)

    /// The first reason why something could not be written.
    var reason: String? { failure.withLock(\.self) }

    func fail(_ error: any Error) {
        failure.withLock { reason in reason = reason ?? "\(error)" }
    }
}

extension Duration {
    /// What is left of a wait, as `13:42`.
    var minutesAndSeconds: String {
        // Rounded up, so that a whole minute starts as one.
        let seconds = max(0, components.seconds + (components.attoseconds > 0 ? 1 : 0))
        let rest = seconds % 60
        return "\(seconds / 60):\(rest < 10 ? "0" : "")\(rest)"
    }
}
