import Files
import Glibc
import Secrets
import SystemPackage
import Terminal

/// Reads a secret that the user types, without echo, or that a program passes on stdin; it is never an argument.
struct SecretInput {
    /// The kind of secret, such as `password`.
    let name: String
    /// The command that needs the secret.
    let command: ShellCommand
    /// The characters that it consists of, for people.
    var alphabet = "UTF-8"

    /// The longest secret that is read from stdin, in bytes.
    private static let longest = 4096

    /// Reads the user's answer to each of the questions, or all of stdin without a line feed at its end.
    ///
    /// - Throws: `Failure` also if the user's answers differ.
    func read(_ context: CommandContext, asking questions: [String]) async throws(Failure) -> Secret {
        guard isatty(context.input.rawValue) == 1 else { return try stdin(context.input) }
        let prompt = Prompt(context.console)
        var answers: [String] = []
        for question in questions {
            let answer = await prompt.line(question, echo: false)
            guard let answer, !answer.isEmpty else { throw missing }
            answers.append(answer)
        }
        guard answers.allSatisfy({ $0.utf8.elementsEqual(answers[0].utf8) }) else {
            throw Failure("the two \(name)s differ", hints: [Hint("try again", run: command)])
        }
        return Secret(answers[0])
    }

    private func stdin(_ input: FileDescriptor) throws(Failure) -> Secret {
        guard var bytes = try? OpenFile.bytes(from: input.rawValue, atMost: Self.longest + 2) else {
            throw Failure("standard input cannot be read")
        }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        guard !bytes.isEmpty else { throw missing }
        guard bytes.count <= Self.longest, !bytes.contains(0), !bytes.contains(UInt8(ascii: "\n")),
            let text = String(validating: bytes, as: UTF8.self)
        else {
            throw Failure(
                "standard input holds no valid \(name)",
                hints: ["it must be one line of \(alphabet), of at most \(Self.longest) bytes"])
        }
        return Secret(text)
    }

    private var missing: Failure {
        Failure(
            "no \(name) was given",
            hints: [Hint("type it at a terminal, or pass it on standard input", run: command)])
    }
}
