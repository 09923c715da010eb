import Secrets
package import Terminal

/// An error in a TOML file, with its position and a suggestion.
public struct SettingsError: Error, Sendable, Equatable {
    /// The file's path.
    public let file: String
    /// The line, from 1; nil if it isn't known.
    public let line: Int?
    /// One sentence for the user: lower case, no full stop.
    public let message: String
    /// The nearest valid value, or a remedy.
    public let hint: String?
    /// The words of a command that fixes it; empty if there is none.
    public let command: [String]
    /// Whether the user lacks a permission that root would have.
    public let lacksPermission: Bool

    /// Creates an error.
    public init(
        file: String, line: Int?, message: String, hint: String? = nil, command: [String] = [],
        lacksPermission: Bool = false
    ) {
        self.file = file
        self.line = line
        self.message = message
        self.hint = hint
        self.command = command
        self.lacksPermission = lacksPermission
    }

    /// The error as `FILE:LINE: MESSAGE`, like a compiler's; safe to display.
    public var description: String {
        let file = file.displayable(limit: 4096)
        let place = line.map { "\(file):\($0)" } ?? file
        return "\(place): \(message)"
    }
}

extension Failure {
    /// Creates the error for a configuration file or manifest that isn't valid.
    package init(_ error: SettingsError) { self.init(error.description, hints: error.hints) }
}

extension SettingsError {
    /// The remedies, which may quote the file.
    package var hints: [Hint] {
        [hint].compactMap(\.self).map { Hint($0.displayable()) }
            + (command.isEmpty ? [] : [Hint("run", run: ShellCommand(words: command))])
    }
}
