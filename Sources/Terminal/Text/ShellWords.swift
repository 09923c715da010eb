import Addresses

/// Reads and writes words of shell commands, byte by byte, regardless of characters.
package enum ShellWords {
    /// Splits a command into words as a shell would, without expanding anything; nil if a quote isn't closed.
    package static func split(_ command: String) -> [String]? {
        var scanner = Scanner()
        for byte in command.utf8 { scanner.take(byte) { isBlank($0) } }
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
                scanner.take(byte) { _ in false }
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

        mutating func take(_ byte: UInt8, separates: (UInt8) -> Bool) {
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
