import CredentialProtocol
import SystemPackage

// The rules of what a person reads, kept in one place:
//
// - stdout carries the protocol or the command's result and nothing else; everything for people goes to stderr.
// - A line starts with `lanyard: `; an error is one line `lanyard: error: …`, then perhaps `lanyard: hint: …` with a
//   command to run. Lower case, no full stop.
// - What comes from elsewhere is made displayable first. A secret is never in a message.

/// Where a command writes.
struct Console: Sendable {
    let output: FileDescriptor
    let errors: FileDescriptor

    static let standard = Console(output: .standardOutput, errors: .standardError)

    /// Writes a result to stdout as it is; a reader that has gone is no error.
    func write(_ bytes: [UInt8]) {
        _ = try? output.writeAll(bytes)
    }

    /// Writes a line of a result to stdout.
    func print(_ line: String = "") {
        write(Array(line.utf8) + [0x0A])
    }

    /// Writes a document of a result to stdout.
    func print(_ document: [UInt8]) {
        write(document + [0x0A])
    }

    /// Tells the person something.
    func note(_ line: String) {
        say("lanyard: \(line)")
    }

    /// Tells the person what went wrong and what to do about it.
    func report(_ failure: Failure) {
        say("lanyard: error: \(failure.message)")
        for hint in failure.hints { say("lanyard: hint: \(hint)") }
    }

    /// Passes on the argument parser's complaint, which has a form of its own.
    func complain(_ text: String) {
        say(text)
    }

    private func say(_ text: String) {
        _ = try? errors.writeAll(Array("\(text)\n".utf8))
    }
}

/// What a command ends with when it can't do its work.
struct Failure: Error, Sendable, Equatable {
    /// Where it lies, as far as a command does something else for it.
    enum Cause: Sendable {
        /// The keyring can't be used now; what it holds is untouched.
        case keyring
        /// The person said no, or let the time run out.
        case cancellation
        /// Anywhere else.
        case other
    }

    let message: String
    let hints: [String]
    let status: ExitStatus
    let cause: Cause

    /// A failure; texts from elsewhere must have been made displayable.
    init(_ message: String, hints: [String] = [], status: ExitStatus = .failed, cause: Cause = .other) {
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
