/// A command line as bash splits it, up to the cursor.
///
/// readline replaces only what stands after the last of its word breaks (`COMP_WORDBREAKS`) or after the quote that is open,
/// so that it has to be known how much of the word stands before that and how the rest must be quoted.
struct BashLine {
    /// What bash makes of the characters at the place that readline replaces from.
    enum Quote {
        case none, single, double
    }

    /// The words, unquoted; the last one is the cursor's and may be empty.
    private(set) var words: [String] = []
    /// How much of the last word stays as it is.
    private(set) var kept = ""
    /// What the rest of it stands in.
    private(set) var quote = Quote.none
    /// Whether the last word is a file's name after `<` or `>`.
    private(set) var isRedirection = false

    private let breaks: String
    private var word = ""
    private var isStarted = false

    /// Reads a line; expansions in it count as they are written.
    init(_ line: String, breaks: String) {
        self.breaks = breaks
        var rest = line[...]
        while let character = rest.popFirst() {
            switch character {
            case "'": quoted(&rest)
            case "\"": doublyQuoted(&rest)
            case "\\":
                isStarted = true
                if let next = rest.popFirst() { word.append(next) }
            case " ", "\t", "\n": endWord()
            case "<", ">": redirect(&rest)
            default: take(character)
            }
        }
        words.append(word)
    }

    private mutating func take(_ character: Character) {
        isStarted = true
        // readline keeps a word's @ for completing host names.
        if character == "@", breaks.contains("@") { kept = word }
        word.append(character)
        if character != "@", breaks.contains(character) { kept = word }
    }

    private mutating func endWord() {
        guard isStarted else { return }
        if !isRedirection { words.append(word) }
        isRedirection = false
        (word, kept, isStarted) = ("", "", false)
    }

    /// `<`, `>>`, `2>` and their like: the next word is a file's name.
    private mutating func redirect(_ rest: inout Substring) {
        if word.allSatisfy(\.isNumber) { isStarted = false }
        endWord()
        (word, kept) = ("", "")
        while let next = rest.first, "<>&|".contains(next) { rest.removeFirst() }
        isRedirection = true
    }

    private mutating func quoted(_ rest: inout Substring) {
        open(.single)
        while let character = rest.popFirst() {
            if character == "'" { return close() }
            word.append(character)
        }
    }

    private mutating func doublyQuoted(_ rest: inout Substring) {
        open(.double)
        while let character = rest.popFirst() {
            if character == "\"" { return close() }
            if character == "\\", let next = rest.first, "$`\"\\".contains(next) {
                word.append(rest.removeFirst())
            } else {
                word.append(character)
            }
        }
    }

    private var keptBefore = ""

    private mutating func open(_ kind: Quote) {
        isStarted = true
        keptBefore = kept
        (quote, kept) = (kind, word)
    }

    private mutating func close() {
        (quote, kept) = (.none, keptBefore)
    }
}

extension BashLine {
    /// What replaces the end of the last word so that it becomes this one.
    func replacement(for word: String) -> String? {
        guard word.hasPrefix(words.last ?? ""), word.hasPrefix(kept) else { return nil }
        return quote.written(String(word.dropFirst(kept.count)))
    }
}

extension BashLine.Quote {
    fileprivate func written(_ text: String) -> String {
        switch self {
        case .single: text.replacing("'", with: #"'\''"#)
        // A history expansion can be kept off by no backslash here.
        case .double:
            text.map { character in
                character == "!" ? #""'!'""# : "$`\"\\".contains(character) ? "\\\(character)" : "\(character)"
            }.joined()
        case .none:
            text.enumerated().map { index, character in
                Self.isPlain(character, isFirst: index == 0) ? "\(character)" : "\\\(character)"
            }.joined()
        }
    }

    /// Whether a character stands for itself outside of quotes.
    private static func isPlain(_ character: Character, isFirst: Bool) -> Bool {
        guard character.isASCII else { return true }
        if character == "~" || character == "#" { return !isFirst }
        return character.isLetter || character.isNumber || "@%+=:,./_-".contains(character)
    }
}
