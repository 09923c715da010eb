import Addresses

// Text for a terminal is wrapped between words, never within one. Text to be copied counts as one word: if the terminal
// itself breaks it, it still copies as one line. Text for anything else is never wrapped.

extension String {
    /// Wraps the text to a screen's width.
    ///
    /// - Parameters:
    ///   - columns: The width of the screen; nil for no limit.
    ///   - indent: The column at which the lines after the first begin.
    ///   - start: The column at which the first line begins; `indent` if nil.
    /// - Returns: The lines as one text; unchanged if there is no limit, or if the text already has several lines.
    package func wrapped(columns: Int?, indent: Int, from start: Int? = nil) -> String {
        guard !utf8.contains(UInt8(ascii: "\n")) else { return self }
        return words.joined(columns: columns, indent: indent, from: start ?? indent)
    }

    /// The words between single blanks; joining them restores the text.
    var words: [String] { pieces(between: " ", omittingEmpty: false).map(String.init) }
}

extension [String] {
    /// Joins the words into lines no wider than a screen, each word whole.
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
