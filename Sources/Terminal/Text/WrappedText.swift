// Text is broken between words if a terminal has an end, never within a word, and what is to be copied is one: what the
// terminal itself breaks it takes for one line. What goes elsewhere is never broken.

extension String {
    /// Breaks the text into lines no wider than a screen.
    ///
    /// - Parameters:
    ///   - columns: how wide the screen is; nil if it has no end.
    ///   - indent: where the lines after the first begin.
    ///   - start: where the first line begins; as the others unless given.
    /// - Returns: the lines as one text; as it is if the screen has no end, or the text has lines of its own.
    package func wrapped(columns: Int?, indent: Int, from start: Int? = nil) -> String {
        guard !utf8.contains(UInt8(ascii: "\n")) else { return self }
        return words.joined(columns: columns, indent: indent, from: start ?? indent)
    }

    /// The words between blanks, so that joining them gives the text again.
    var words: [String] {
        utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
    }
}

extension [String] {
    /// The words as a text of lines no wider than a screen, each word whole.
    package func joined(columns: Int?, indent: Int, from start: Int) -> String {
        let whole = joined(separator: " ")
        guard let columns, columns > indent + 20, start + whole.count > columns else { return whole }
        var text = ""
        var column = start
        for (index, word) in enumerated() {
            let isFirst = index == 0
            if !isFirst, column + 1 + word.count > columns {
                text += "\n" + String(repeating: " ", count: indent)
                column = indent
            } else if !isFirst {
                text += " "
                column += 1
            }
            text += word
            column += word.count
        }
        return text
    }
}
