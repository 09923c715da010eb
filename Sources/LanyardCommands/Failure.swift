import PluginHost
import Terminal

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

    /// The same with a further hint.
    func with(_ hint: Hint) -> Failure { Failure(message, hints: hints + [hint], status: status, cause: cause) }

    /// The same with another exit status.
    func with(_ status: ExitStatus) -> Failure { Failure(message, hints: hints, status: status, cause: cause) }
}

/// How a process ends.
public enum ExitStatus: Int32, Sendable {
    /// Done, or nothing to say.
    case done = 0
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

extension Console {
    /// Tells what went wrong, and what to do about it, though the command goes on.
    func note(_ failure: Failure) {
        note(Hint(failure.message))
        for hint in failure.hints { self.hint(hint) }
    }

    /// Tells the person what went wrong and what to do about it; an interruption they know of.
    func report(_ failure: Failure) {
        endProgress()
        guard failure.cause != .interruption else { return }
        error(failure.message)
        for hint in failure.hints { self.hint(hint) }
    }
}

extension Failure {
    /// What is wrong if not all of the result is on stdout.
    init(undelivered reason: String) {
        self.init("the result can't be written: \(reason)", hints: ["check where standard output goes, then try again"])
    }
}
