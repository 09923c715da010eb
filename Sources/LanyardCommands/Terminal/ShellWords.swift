/// Text as a shell reads it.
enum ShellWords {
    /// Splits a command into words as a shell would, without expanding anything; nil where a quote isn't closed.
    static func split(_ command: String) -> [String]? {
        var scanner = Scanner()
        for character in command { scanner.take(character) { $0.isWhitespace } }
        return scanner.finish()
    }

    /// Splits a list of commands, such as `$BROWSER`, at the colons that stand outside of quotes; each keeps its quotes.
    static func list(_ text: String) -> [String] {
        var parts = [""]
        var scanner = Scanner()
        for character in text {
            if character == ":", scanner.isOpen {
                parts.append("")
                scanner = Scanner()
            } else {
                scanner.take(character) { _ in false }
                parts[parts.count - 1].append(character)
            }
        }
        return parts.filter { !$0.allSatisfy(\.isWhitespace) }
    }

    /// The text as one word for a shell: as it is where that is safe, else in single quotes.
    static func quote(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "_@%+=:,./-".utf8.contains(byte)
            }
        }
        return isPlain && !text.isEmpty ? text : "'\(text.replacing("'", with: #"'\''"#))'"
    }

    /// Quotes and backslashes as sh(1) has them.
    private struct Scanner {
        private var words: [String] = []
        private var word: String?
        private var quote: Character?
        private var isEscaped = false

        /// Whether the next character has its plain meaning.
        var isOpen: Bool { quote == nil && !isEscaped }

        mutating func take(_ character: Character, separates: (Character) -> Bool) {
            if isEscaped {
                isEscaped = false
                // In double quotes a backslash stands for itself before anything else.
                if quote == "\"", !"\"\\$`".contains(character) { append("\\") }
                append(character)
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if character == quote {
                quote = nil
            } else if quote == nil, character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if quote == nil, separates(character) {
                endWord()
            } else {
                append(character)
            }
        }

        mutating func finish() -> [String]? {
            endWord()
            return isOpen ? words : nil
        }

        private mutating func append(_ character: Character) {
            word = (word ?? "") + String(character)
        }

        private mutating func endWord() {
            if let word { words.append(word) }
            word = nil
        }
    }
}
