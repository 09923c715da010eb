/// The error with which a command ends.
package struct CommandError: Error, Sendable, Equatable {
    /// The cause of a failure, as far as commands act on it.
    package enum Cause: Sendable {
        /// The keyring can't be used now; its content is untouched.
        case keyring
        /// The keyring is locked, or there is none yet; its content is untouched.
        case lockedKeyring
        /// The user said no, or ran out of time.
        case cancellation
        /// A signal, by which the process is about to end.
        case interruption
        /// Anything else.
        case other

        /// Whether the keyring is the cause, locked or not.
        package var isOfKeyring: Bool { self == .keyring || self == .lockedKeyring }
    }

    package let message: Message
    package let hints: [Hint]
    package let status: ExitStatus
    package let cause: Cause

    package init(_ message: Message, hints: [Hint] = [], status: ExitStatus = .failed, cause: Cause = .other) {
        self.message = message
        self.hints = hints
        self.status = status
        self.cause = cause
    }

    /// Returns the failure with another hint.
    package func with(_ hint: Hint) -> CommandError {
        CommandError(message, hints: hints + [hint], status: status, cause: cause)
    }

    /// Returns the failure with another exit status.
    package func with(_ status: ExitStatus) -> CommandError {
        CommandError(message, hints: hints, status: status, cause: cause)
    }
}

/// The exit statuses of lanyard's commands.
package enum ExitStatus: Int32, Sendable, CaseIterable {
    /// Done, or nothing to report.
    case done = 0
    case failed = 1
    /// Only the user can continue, by signing in.
    case interactionRequired = 2
    /// The authority granted fewer scopes than requested.
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
    package func note(_ failure: CommandError) {
        note(Hint(failure.message))
        for hint in failure.hints { self.hint(hint) }
    }

    /// Shows the user an error and its remedies, unless it is an interruption, which they know about.
    package func report(_ failure: CommandError) {
        endProgress()
        guard failure.cause != .interruption else { return }
        error(failure.message)
        for hint in failure.hints { self.hint(hint) }
    }
}

extension CommandError {
    /// Creates the error for a result that isn't completely on stdout.
    package init(undelivered reason: String) {
        self.init("the result can't be written: \(reason)", hints: ["check where standard output goes, then try again"])
    }
}
