import Secrets

/// A command for the user to copy into a shell.
///
/// In a string literal, the literal parts are shell syntax, and each interpolated value becomes one quoted word, fit to
/// show.
package struct ShellCommand: Sendable, Equatable, ExpressibleByStringInterpolation {
    /// The command, quoted for sh, bash, zsh and fish.
    package let text: String

    package init(stringLiteral text: String) { self.text = text }

    package init(stringInterpolation interpolation: StringInterpolation) { text = interpolation.text }

    /// The parts of a command.
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ literal: String) { text += literal }

        /// Adds a value as one word.
        package mutating func appendInterpolation(_ word: String, limit: Int = 500) {
            text += ShellWords.quote(word.displayable(limit: limit))
        }

        /// Adds another command, or part of one.
        package mutating func appendInterpolation(_ command: ShellCommand) { text += command.text }

        /// Adds an option with a blank before it; nothing if the value is nil.
        package mutating func appendInterpolation(option name: String, _ value: String?, limit: Int = 500) {
            guard let value else { return }
            // The argument parser rejects a value that looks like an option unless it is in the same word.
            let sign = value.utf8.first == UInt8(ascii: "-") ? "=" : " "
            text += " \(name)\(sign)\(ShellWords.quote(value.displayable(limit: limit)))"
        }

        /// Adds a flag with a blank before it if the condition holds.
        package mutating func appendInterpolation(flag name: String, if isThere: Bool) {
            if isThere { text += " \(name)" }
        }

        /// Adds the last argument with a blank before it; nothing if it is nil.
        package mutating func appendInterpolation(last argument: String?, limit: Int = 500) {
            guard let argument else { return }
            let terminator = argument.utf8.first == UInt8(ascii: "-") ? " --" : ""
            text += "\(terminator) \(ShellWords.quote(argument.displayable(limit: limit)))"
        }
    }

    /// Creates a command from words.
    package init(words: [String]) {
        text = words.map { ShellWords.quote($0.displayable(limit: 4000)) }.joined(separator: " ")
    }
}
