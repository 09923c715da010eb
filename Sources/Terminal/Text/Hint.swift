import Addresses
import Secrets

/// An instruction for the user: a text, and a text to copy, which stays whole however narrow the screen is.
package struct Hint: Sendable, Equatable {
    /// The instruction; empty if the text to copy says it all.
    package let text: String
    /// The text to copy: a command, or a line of a file.
    package let copied: String?

    /// Creates a hint with nothing to copy.
    ///
    /// A command in the text may be wrapped like any other words.
    package init(_ text: Message) {
        self.text = text.text
        copied = nil
    }

    /// Creates a hint with a command to run.
    package init(_ text: Message = "", run command: ShellCommand) {
        self.text = text.text
        copied = command.text
    }

    /// Creates a hint with a line to write into a file, or options to add to a command.
    ///
    /// The line becomes displayable; it is cut only after 4,000 characters, since it is to be copied whole.
    package init(_ text: Message = "", write line: String) {
        self.text = text.text
        copied = line.displayable(limit: 4000)
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
    package init(stringLiteral text: String) { self.init(Message(stringLiteral: text)) }

    package init(stringInterpolation interpolation: Message.StringInterpolation) {
        self.init(Message(stringInterpolation: interpolation))
    }
}

extension Message.StringInterpolation {
    /// Adds a command as it is, so that it can be copied whole.
    package mutating func appendInterpolation(_ command: ShellCommand) { appendLiteral(command.text) }
}

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

/// Reads and writes words of shell commands, byte by byte, regardless of characters.
package enum ShellWords {
    /// Splits a command into words as a shell would, without expanding anything; nil if a quote isn't closed.
    package static func split(_ command: String) -> [String]? {
        var scanner = Scanner()
        for byte in command.utf8 { scanner.scan(byte) { isBlank($0) } }
        return scanner.finish()
    }

    /// Splits a list of commands, such as `$BROWSER`, at colons outside quotes; each command keeps its quotes.
    package static func list(_ text: String) -> [String] {
        var parts: [[UInt8]] = [[]]
        var scanner = Scanner()
        for byte in text.utf8 {
            if byte == UInt8(ascii: ":"), scanner.isOpen {
                parts.append([])
                scanner = Scanner()
            } else {
                scanner.scan(byte) { _ in false }
                parts[parts.count - 1].append(byte)
            }
        }
        return parts.filter { !$0.allSatisfy(isBlank) }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns a text as one shell word: unchanged if that is safe, else in single quotes.
    ///
    /// The word means the same to sh, bash, zsh and fish; fish interprets backslashes in single quotes.
    package static func quote(_ text: String) -> String {
        // zsh replaces a word that begins with = by a program's path.
        let isPlain = text.utf8.allSatisfy(isPlain) && !text.isEmpty && text.utf8.first != UInt8(ascii: "=")
        guard !isPlain else { return text }
        let marks = [UInt8(ascii: "'"), UInt8(ascii: "\\")]
        let inside = text.utf8.flatMap { marks.contains($0) ? Array("'\\".utf8) + [$0, marks[0]] : [$0] }
        return String(decoding: [marks[0]] + inside + [marks[0]], as: UTF8.self)
    }

    /// Whether a byte is literal in every shell and at every position; no byte outside ASCII is.
    package static func isPlain(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || "_@%+=:,./-".utf8.contains(byte)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { " \t\n".utf8.contains(byte) }

    /// Interprets quotes and backslashes as in sh(1).
    private struct Scanner {
        private static let single = UInt8(ascii: "'")
        private static let double = UInt8(ascii: "\"")
        private static let backslash = UInt8(ascii: "\\")

        private var words: [String] = []
        private var word: [UInt8]?
        private var quote: UInt8?
        private var isEscaped = false

        /// Whether the next byte is neither quoted nor escaped.
        var isOpen: Bool { quote == nil && !isEscaped }

        mutating func scan(_ byte: UInt8, separates: (UInt8) -> Bool) {
            if isEscaped {
                isEscaped = false
                // The line continues on the next one.
                guard byte != UInt8(ascii: "\n") else { return }
                // In double quotes, a backslash before any other byte is literal.
                if quote == Self.double, !"\"\\$`".utf8.contains(byte) { append(Self.backslash) }
                append(byte)
            } else if byte == Self.backslash, quote != Self.single {
                isEscaped = true
            } else if byte == quote {
                quote = nil
            } else if quote == nil, byte == Self.single || byte == Self.double {
                quote = byte
                word = word ?? []
            } else if quote == nil, separates(byte) {
                endWord()
            } else {
                append(byte)
            }
        }

        mutating func finish() -> [String]? {
            endWord()
            return isOpen ? words : nil
        }

        private mutating func append(_ byte: UInt8) {
            word = (word ?? []) + [byte]
        }

        private mutating func endWord() {
            if let word { words.append(String(decoding: word, as: UTF8.self)) }
            word = nil
        }
    }
}
