/// What a person is told to do: a text, and what they are to copy, which stays whole however narrow the screen is.
package struct Hint: Sendable, Equatable {
    /// What it is about; empty if what is to be copied says it all.
    package let text: String
    /// A command, or a line of a file.
    package let copied: String?

    /// A hint with nothing to copy.
    ///
    /// Texts from elsewhere must have been made displayable; a command in one may be broken like any other words.
    package init(_ text: String) {
        self.text = text
        copied = nil
    }

    /// A command to run.
    package init(_ text: String = "", run command: ShellCommand) {
        self.text = text
        copied = command.text
    }

    /// A line to write into a file, or options to add to a command.
    package init(_ text: String = "", write line: String) {
        self.text = text
        copied = line
    }

    /// The hint on one line, as a pipe or a program gets it.
    package var line: String {
        guard let copied else { return text }
        return text.isEmpty ? copied : "\(text): \(copied)"
    }

    /// The hint in lines no wider than a screen, as `String.wrapped(columns:indent:from:)` breaks them.
    package func wrapped(columns: Int?, indent: Int, from start: Int? = nil) -> String {
        let words = text.isEmpty ? [] : (copied == nil ? text : text + ":").words
        return (words + [copied].compactMap(\.self)).joined(columns: columns, indent: indent, from: start ?? indent)
    }
}

extension Hint: ExpressibleByStringInterpolation {
    package init(stringLiteral text: String) { self.init(text) }
}
