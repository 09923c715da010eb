import Addresses
import Secrets

/// A mistake in a command line: the argument parser's complaint in the style of all other errors.
package struct UsageError: Sendable, Equatable {
    package let message: Message
    /// The suggestion or else the command's usage, then how to get help.
    package let hints: [Hint]

    /// Creates an error with hints.
    package init(_ message: Message, hints: [Hint]) {
        self.message = message
        self.hints = hints
    }

    /// The prefix of each value that the argument parser lists.
    private static let bullet = "  - "

    /// Converts a complaint of the argument parser.
    ///
    /// - Parameters:
    ///   - message: The reason, perhaps with a suggestion: `Unknown option '--jsn'. Did you mean '--json'?`
    ///   - text: The full complaint, which adds the command's usage and the option that shows its help.
    package init(message: String, text: String) {
        let lines = message.pieces(between: "\n")
        // A list of values has a line for each.
        let values = lines.filter { $0.hasPrefix(Self.bullet) }.map { $0.dropFirst(Self.bullet.utf8.count) }
        let reason =
            lines.filter { !$0.hasPrefix(Self.bullet) }.joined(separator: ",")
            + (values.isEmpty ? "" : " \(values.joined(separator: ", "))")
        let sentences = reason.cut(atText: ". ")
        let suggestion = sentences.map { String($0.1).inOurStyle }
        let complaint = Complaint(text)
        self.init(
            String(sentences?.0 ?? reason[...]).inOurStyle,
            hints: (suggestion.map { [Hint($0)] } ?? complaint.usage) + complaint.help)
    }
}

/// The usage and help in the argument parser's complaint, below the reason.
private struct Complaint {
    private(set) var usage: [Hint] = []
    private(set) var help: [Hint] = []

    /// Parses `Usage: lanyard login [<options>] [<url>]`, further usages below it, and `  See 'lanyard login --help'
    /// for …`.
    init(_ text: String) {
        for line in text.pieces(between: "\n").drop(while: { !$0.hasPrefix("Usage: ") }) {
            if line.hasPrefix("  See '") {
                let command = line.pieces(between: "'").dropFirst().first ?? ""
                help = [Hint("for help", run: ShellCommand(words: command.pieces(between: " ").map(String.init)))]
            } else {
                // The label indents the first line as far as blanks do the others.
                usage.append(Hint("usage", write: String(line.dropFirst("Usage: ".utf8.count)).displayable()))
            }
        }
    }
}

extension String {
    /// The argument parser's sentence in lower case, without a full stop, in lanyard's words.
    fileprivate var inOurStyle: Message {
        let text = replacing(bytes: "Missing expected argument", with: "missing argument")
            .replacing(bytes: "Please provide", with: "use")
        let body = text.withoutFinalDot
        // A text that begins with the user's own word stays as it was typed.
        guard body.utf8.dropFirst().first?.isLowerCase == true else {
            return "\(body)"
        }
        return "\(body.prefix(1).lowercased() + body.dropFirst())"
    }
}
