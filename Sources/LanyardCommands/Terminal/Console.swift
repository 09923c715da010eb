import PluginHost
import Synchronization
import SystemPackage

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
struct Console: Sendable {
    let output: FileDescriptor
    let errors: FileDescriptor
    /// What the person sees of stderr.
    let screen: Screen
    private let status: StatusLine
    private let delivery = Delivery()

    /// The console of these streams; the environment says what the terminal behind stderr can do.
    init(output: FileDescriptor, errors: FileDescriptor, environment: [String: String]) {
        self.output = output
        self.errors = errors
        screen = Screen(errors, environment: environment)
        status = StatusLine(errors, on: screen)
    }

    /// Writes a result to stdout as it is; a reader that has gone is no error, and of what else fails `undelivered` tells.
    func write(_ bytes: [UInt8]) {
        status.clear()
        do { _ = try output.writeAll(bytes) } catch Errno.brokenPipe {} catch { delivery.fail(error) }
    }

    /// Why a result is not on stdout, or not all of it; nil where it is.
    var undelivered: Failure? {
        delivery.reason.map { reason in
            Failure("the result can't be written: \(reason)", hints: ["see where stdout leads, and try again"])
        }
    }

    /// Writes a line of a result to stdout.
    func print(_ line: String = "") {
        write(Array(line.utf8) + [0x0A])
    }

    /// Writes a document of a result to stdout.
    func print(_ document: [UInt8]) {
        write(document + [0x0A])
    }

    /// Tells the person something, and what they may do about it; what begins with blanks is laid out already.
    func note(_ note: Hint) {
        let isLaidOut = note.text.utf8.first == UInt8(ascii: " ")
        say("lanyard: \(isLaidOut ? note.line : note.wrapped(columns: screen.columns, indent: 9))")
    }

    /// Tells the person something.
    func note(_ line: String) {
        note(Hint(line))
    }

    /// Shows the person what they are to copy, or a protocol's lines, as it is and alone on its line.
    func show(_ text: String) {
        say(text)
    }

    /// Tells the person what went wrong and what to do about it; an interruption they know of.
    func report(_ failure: Failure) {
        status.clear()
        guard failure.cause != .interruption else { return }
        say(
            "lanyard: \(label("error:", colour: 31)) \(failure.message.wrapped(columns: screen.columns, indent: 9, from: 16))"
        )
        for hint in failure.hints { self.hint(hint) }
    }

    /// Tells the person what to do.
    func hint(_ hint: Hint) {
        say("lanyard: \(label("hint:", colour: 36)) \(hint.wrapped(columns: screen.columns, indent: 9, from: 15))")
    }

    /// Passes on the argument parser's complaint, which has a form of its own.
    func complain(_ text: String) {
        say(text)
    }

    // MARK: What is going on

    /// Tells what is going on, should it take longer than a second or the time given.
    func progress(_ text: String, after delay: Duration = .seconds(1)) {
        status.show(after: delay) { "lanyard: \(text)…" }
    }

    /// Tells what is waited for and for how much longer.
    func countDown(_ text: String, seconds: Int) {
        let end = ContinuousClock.now + .seconds(seconds)
        status.show(after: .zero) { "lanyard: \(text), \((end - .now).minutesAndSeconds) left; Ctrl-C ends it" }
    }

    /// Ends what `progress` and `countDown` show.
    func endProgress() {
        status.clear()
    }

    /// Keeps what is going on from the screen while a person types on it.
    func pauseProgress(_ isPaused: Bool) {
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

/// What a command ends with when it can't do its work.
struct Failure: Error, Sendable, Equatable {
    /// Where it lies, as far as a command does something else for it.
    enum Cause: Sendable {
        /// The keyring can't be used now; what it holds is untouched.
        case keyring
        /// The same, because it is locked.
        case lockedKeyring
        /// The person said no, or let the time run out.
        case cancellation
        /// A signal; the process is about to end by it.
        case interruption
        /// Anywhere else.
        case other

        /// Whether it lies in the keyring.
        var isOfKeyring: Bool { self == .keyring || self == .lockedKeyring }

        /// What it is that the person gave no answer: no, or a signal such as Ctrl-C's.
        static var ofNoAnswer: Cause { Interruption.signal == nil ? .cancellation : .interruption }
    }

    let message: String
    let hints: [Hint]
    let status: ExitStatus
    let cause: Cause

    /// A failure; texts from elsewhere must have been made displayable.
    init(_ message: String, hints: [Hint] = [], status: ExitStatus = .failed, cause: Cause = .other) {
        self.message = message
        self.hints = hints
        self.status = status
        self.cause = cause
    }
}

/// How a process ends.
public enum ExitStatus: Int32, Sendable {
    /// Done, or nothing to say.
    case done = 0
    /// Failed.
    case failed = 1
    /// Only the person can go on.
    case interactionRequired = 2
    /// The authority granted less than was asked.
    case scopesDeclined = 3
    /// The command line is wrong (sysexits.h).
    case usage = 64
    /// `exec`: the command can't be executed.
    case notExecutable = 126
    /// `exec`: there is no such command.
    case notFound = 127
}
