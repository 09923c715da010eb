import Secrets

/// What is wrong with a TOML file, where, and what was probably meant.
public struct SettingsError: Error, Sendable, Equatable {
    /// The file's path.
    public let file: String
    /// The line, from 1; nil if it isn't known.
    public let line: Int?
    /// One sentence for a person: lower case, no full stop.
    public let message: String
    /// The nearest thing that would be right, or what to do.
    public let hint: String?
    /// The words of a command that mends it; none if there is no such command.
    public let command: [String]
    /// Whether whoever runs the program lacks the right to what it tried, which root would have.
    public let lacksPermission: Bool

    /// Makes an error.
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

    /// `FILE:LINE: MESSAGE`, as compilers print it; fit to show.
    public var description: String {
        let file = file.displayable(limit: 4096)
        let place = line.map { "\(file):\($0)" } ?? file
        return "\(place): \(message)"
    }
}
