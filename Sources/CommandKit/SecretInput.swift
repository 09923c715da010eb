import Files
package import Secrets
package import SystemPackage
package import Terminal

/// Reads a secret that the user types, without echo, or that a program passes on stdin; it is never an argument.
package struct SecretInput {
    /// The kind of secret, such as `password`.
    package let name: String
    /// The command that needs the secret.
    package let command: ShellCommand

    package init(name: String, command: ShellCommand) {
        self.name = name
        self.command = command
    }

    /// The longest secret that is read from stdin, in bytes.
    private static let longest = 4096

    /// Reads the user's answer to a question, or all of stdin without a line feed at its end.
    package func read(_ context: CommandContext, asking question: Message) async throws(CommandError) -> Secret {
        guard context.isInputTerminal else { return try stdin(context.input) }
        let answer = await Prompt(context.console).line(question, echo: false)
        guard let answer, !answer.isEmpty else { throw missing }
        return Secret(answer)
    }

    /// Reads all of stdin without a line feed at its end.
    package func stdin(_ input: FileDescriptor) throws(CommandError) -> Secret {
        guard var bytes = try? OpenFile.bytes(from: input.rawValue, atMost: Self.longest + 2) else {
            throw CommandError("standard input cannot be read")
        }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        guard !bytes.isEmpty else { throw missing }
        guard bytes.count <= Self.longest, !bytes.contains(0), !bytes.contains(UInt8(ascii: "\n")),
            let text = String(validating: bytes, as: UTF8.self)
        else {
            throw CommandError(
                "standard input holds no valid \(name)",
                hints: ["it must be one line of UTF-8, of at most \(Self.longest) bytes"])
        }
        return Secret(text)
    }

    /// The error if there is none.
    package var missing: CommandError {
        CommandError(
            "no \(name) was given",
            hints: [Hint("type it at a terminal, or pass it on standard input", run: command)])
    }
}
