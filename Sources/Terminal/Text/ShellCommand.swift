import Secrets

/// A command for a person to copy into a shell.
///
/// It is written as a string: what stands in it is the shell's, and what is put into it becomes one word, fit to show.
package struct ShellCommand: Sendable, Equatable, ExpressibleByStringInterpolation {
    /// The command, quoted for sh, bash, zsh and fish.
    package let text: String

    package init(stringLiteral text: String) { self.text = text }

    package init(stringInterpolation interpolation: StringInterpolation) { text = interpolation.text }

    /// Puts a command together.
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ literal: String) { text += literal }

        /// Adds a word.
        package mutating func appendInterpolation(_ word: String, limit: Int = 500) {
            text += ShellWords.quote(word.displayable(limit: limit))
        }

        /// Adds another command, or a part of one.
        package mutating func appendInterpolation(_ command: ShellCommand) { text += command.text }

        /// Adds an option with a blank before it, unless there is no value for it.
        package mutating func appendInterpolation(option name: String, _ value: String?, limit: Int = 500) {
            guard let value else { return }
            // The argument parser takes no value that looks like an option, unless it is in the same word.
            let sign = value.utf8.first == UInt8(ascii: "-") ? "=" : " "
            text += " \(name)\(sign)\(ShellWords.quote(value.displayable(limit: limit)))"
        }

        /// Adds a flag with a blank before it, if it is to be there.
        package mutating func appendInterpolation(flag name: String, if isThere: Bool) {
            if isThere { text += " \(name)" }
        }

        /// Adds the last argument with a blank before it, unless there is none.
        package mutating func appendInterpolation(last argument: String?, limit: Int = 500) {
            guard let argument else { return }
            let terminator = argument.utf8.first == UInt8(ascii: "-") ? " --" : ""
            text += "\(terminator) \(ShellWords.quote(argument.displayable(limit: limit)))"
        }
    }

    /// A command of these words.
    package init(words: [String]) {
        text = words.map { ShellWords.quote($0.displayable(limit: 4000)) }.joined(separator: " ")
    }
}
