import Addresses
import Secrets

/// Rows of cells; each column is as wide as its widest cell, with two blanks between columns.
package struct Table: Sendable {
    private let rows: [[String]]
    private let widths: [Int]

    /// Creates a table of rows with equally many cells; the first columns are at least as wide as `least`.
    ///
    /// The cells become displayable, and are cut after 2,000 characters.
    package init(_ rows: [[String]], atLeast least: [Int] = []) {
        let rows = rows.map { $0.map { $0.displayable(limit: 2000) } }
        self.rows = rows
        widths = (rows.first ?? []).indices.map { column in
            let widest = rows.map { $0[column].count }.max() ?? 0
            return column < least.count ? max(widest, least[column]) : widest
        }
    }

    /// Lays out the rows, wrapping the last cell in its column if the screen is too narrow.
    ///
    /// - Parameters:
    ///   - columns: The width of the screen; nil for no limit.
    ///   - indent: The column at which a row begins; the caller writes what is before it.
    /// - Returns: A text for each row.
    package func wrapped(columns: Int?, indent: Int) -> [String] {
        let start = widths.dropLast().reduce(indent) { $0 + $1 + 2 }
        return rows.map { row in
            let last = row.last.map { $0.wrapped(columns: columns, indent: start) }
            return Self.line(of: row.dropLast() + [last].compactMap(\.self), widths.dropLast() + [0])
        }
    }

    /// Lays out the rows, cutting the column with the most space to spare first if the screen is too narrow.
    ///
    /// - Parameters:
    ///   - columns: The width of the screen; nil for no limit.
    ///   - indent: The column at which a row begins; the caller writes what is before it.
    ///   - least: The width of each column below which it isn't cut.
    /// - Returns: A line for each row.
    package func cut(columns: Int?, indent: Int, to least: [Int]) -> [String] {
        var widths = widths
        while let columns, widths.reduce(indent - 2, { $0 + $1 + 2 }) > columns {
            let spare = zip(widths, least).map { $0 - $1 }
            guard let widest = spare.indices.max(by: { spare[$0] < spare[$1] }), spare[widest] > 0 else { break }
            widths[widest] -= 1
        }
        return rows.map { Self.line(of: $0, widths) }
    }

    private static func line(of cells: [String], _ widths: [Int]) -> String {
        // A width of 0 marks a last cell that is wrapped already.
        let fitted = zip(cells, widths).map { $1 == 0 ? $0 : $0.fitted(to: $1) }
        return fitted.joined(separator: "  ").withoutBlanksAtEnd
    }
}

extension String {
    /// Returns the text padded with blanks or cut to a width.
    fileprivate func fitted(to width: Int) -> String {
        count > width ? prefix(width - 1) + "…" : self + String(repeating: " ", count: width - count)
    }

    fileprivate var withoutBlanksAtEnd: String {
        var text = utf8[...]
        while text.last == UInt8(ascii: " ") { text.removeLast() }
        return String(Substring(text))
    }

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

// Text for a terminal is wrapped between words, never within one. Text to be copied counts as one word: if the terminal
// itself breaks it, it still copies as one line. Text for anything else is never wrapped.

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

/// A text that links to a page on terminals that support it (OSC 8), and is plain text on others.
struct Hyperlink {
    /// The text with the escape codes around it.
    let text: String

    /// The longest URL that is linked, in bytes: few terminals support longer ones.
    private static let longest = 2048

    /// Creates a link; nil if the URL can't be written in one.
    init?(_ label: String, to url: String) {
        guard url.utf8.count <= Self.longest, url.utf8.allSatisfy(\.isVisibleASCII) else { return nil }
        text = "\u{1B}]8;;\(url)\u{1B}\\\(label)\u{1B}]8;;\u{1B}\\"
    }
}
