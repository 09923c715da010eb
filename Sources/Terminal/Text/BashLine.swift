import Addresses

/// A command line up to the cursor, split as bash does.
///
/// readline replaces only what follows the last word break (`COMP_WORDBREAKS`) or the open quote. So a completion
/// depends on how much of the word precedes that point, and on how the rest must be quoted.
package struct BashLine {
    /// The quoting at the point from which readline replaces.
    package enum Quote {
        case none, single, double
    }

    /// The words, unquoted; the last one is at the cursor and may be empty.
    package private(set) var words: [String] = []
    /// The part of the last word that readline keeps.
    package private(set) var kept = ""
    /// The quoting of the rest of the last word.
    package private(set) var quote = Quote.none
    /// Whether the last word is a file name after `<` or `>`.
    package private(set) var isRedirection = false

    private let breaks: Set<Unicode.Scalar>
    private var word = ""
    private var isStarted = false
    private var keptBefore = ""

    private typealias Scalars = Substring.UnicodeScalarView

    /// Parses a line without expanding anything.
    package init(_ line: String, breaks: String) {
        self.breaks = Set(breaks.unicodeScalars)
        var rest = line[...].unicodeScalars
        while let scalar = rest.popFirst() {
            switch scalar {
            case "'": quoted(&rest)
            case "\"": doublyQuoted(&rest)
            case "\\":
                isStarted = true
                if let next = rest.popFirst() { append(next) }
            case " ", "\t", "\n": endWord()
            case "<", ">": redirect(&rest)
            default: readUnquoted(scalar)
            }
        }
        words.append(word)
    }

    private mutating func append(_ scalar: Unicode.Scalar) { word.unicodeScalars.append(scalar) }

    private mutating func readUnquoted(_ scalar: Unicode.Scalar) {
        isStarted = true
        // readline keeps a word's @ for completing host names.
        if scalar == "@", breaks.contains("@" as Unicode.Scalar) { kept = word }
        append(scalar)
        if scalar != "@", breaks.contains(scalar) { kept = word }
    }

    private mutating func endWord() {
        guard isStarted else { return }
        if !isRedirection { words.append(word) }
        isRedirection = false
        (word, kept, isStarted) = ("", "", false)
    }

    /// Handles `<`, `>>`, `2>` and the like: the next word is a file name.
    private mutating func redirect(_ rest: inout Scalars) {
        if word.utf8.allSatisfy(\.isDigit) { isStarted = false }
        endWord()
        (word, kept) = ("", "")
        while let next = rest.first, "<>&|".unicodeScalars.contains(next) { rest.removeFirst() }
        isRedirection = true
    }

    private mutating func quoted(_ rest: inout Scalars) {
        open(.single)
        while let scalar = rest.popFirst() {
            if scalar == "'" { return close() }
            append(scalar)
        }
    }

    private mutating func doublyQuoted(_ rest: inout Scalars) {
        open(.double)
        while let scalar = rest.popFirst() {
            if scalar == "\"" { return close() }
            if scalar == "\\", let next = rest.first, "$`\"\\".unicodeScalars.contains(next) {
                append(rest.removeFirst())
            } else {
                append(scalar)
            }
        }
    }

    private mutating func open(_ kind: Quote) {
        isStarted = true
        keptBefore = kept
        (quote, kept) = (kind, word)
    }

    private mutating func close() {
        (quote, kept) = (.none, keptBefore)
    }

    /// Returns the text that turns the last word into `word`; nil if `word` doesn't begin with the last word.
    package func replacement(for word: String) -> String? {
        guard word.utf8.starts(with: (words.last ?? "").utf8), word.utf8.starts(with: kept.utf8) else { return nil }
        return quote.written(String(decoding: word.utf8.dropFirst(kept.utf8.count), as: UTF8.self))
    }
}

extension BashLine.Quote {
    fileprivate func written(_ text: String) -> String {
        text.unicodeScalars.map { written($0) }.joined()
    }

    private func written(_ scalar: Unicode.Scalar) -> String {
        switch self {
        case .single: scalar == "'" ? #"'\''"# : "\(scalar)"
        // In double quotes, no backslash prevents history expansion.
        case .double where scalar == "!": #""'!'""#
        case .double: "$`\"\\".unicodeScalars.contains(scalar) ? "\\\(scalar)" : "\(scalar)"
        case .none: scalar.isASCII && ShellWords.isPlain(UInt8(scalar.value)) ? "\(scalar)" : "\\\(scalar)"
        }
    }
}
