/// An instruction for the user: a text, and a text to copy, which stays whole however narrow the screen is.
package struct Hint: Sendable, Equatable {
    /// The instruction; empty if the text to copy says it all.
    package let text: String
    /// The text to copy: a command, or a line of a file.
    package let copied: String?

    /// Creates a hint with nothing to copy.
    ///
    /// Text from outside must already be displayable. A command in the text may be wrapped like any other words.
    package init(_ text: String) {
        self.text = text
        copied = nil
    }

    /// Creates a hint with a command to run.
    package init(_ text: String = "", run command: ShellCommand) {
        self.text = text
        copied = command.text
    }

    /// Creates a hint with a line to write into a file, or options to add to a command.
    package init(_ text: String = "", write line: String) {
        self.text = text
        copied = line
    }

    /// The hint on one line, for a pipe or a program.
    package var line: String {
        guard let copied else { return text }
        return text.isEmpty ? copied : "\(text): \(copied)"
    }

    /// Returns the hint wrapped to a screen's width, as by `String.wrapped(columns:indent:from:)`.
    package func wrapped(columns: Int?, indent: Int, from start: Int? = nil) -> String {
        let words = text.isEmpty ? [] : (copied == nil ? text : text + ":").words
        return (words + [copied].compactMap(\.self)).joined(columns: columns, indent: indent, from: start ?? indent)
    }
}

extension Hint: ExpressibleByStringInterpolation {
    package init(stringLiteral text: String) { self.init(text) }
}
