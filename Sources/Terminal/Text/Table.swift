/// Rows of cells, each column as wide as its widest cell, two blanks apart.
package struct Table: Sendable {
    private let rows: [[String]]
    private let widths: [Int]

    /// A table of rows that have equally many cells; the first columns are no narrower than the widths given.
    package init(_ rows: [[String]], atLeast least: [Int] = []) {
        self.rows = rows
        widths = (rows.first ?? []).indices.map { column in
            let widest = rows.map { $0[column].count }.max() ?? 0
            return column < least.count ? max(widest, least[column]) : widest
        }
    }

    /// Lays the rows out so that the last cell goes on below itself if the screen is too narrow.
    ///
    /// - Parameters:
    ///   - columns: how wide the screen is; nil if it has no end.
    ///   - indent: where a row begins; what stands before it is the caller's.
    /// - Returns: a text for each row.
    package func wrapped(columns: Int?, indent: Int) -> [String] {
        let start = widths.dropLast().reduce(indent) { $0 + $1 + 2 }
        return rows.map { row in
            let last = row.last.map { $0.wrapped(columns: columns, indent: start) }
            return Self.line(of: row.dropLast() + [last].compactMap(\.self), widths.dropLast() + [0])
        }
    }

    /// Lays the rows out so that, if the screen is too narrow, the column that can spare most gives way first.
    ///
    /// - Parameters:
    ///   - columns: how wide the screen is; nil if it has no end.
    ///   - indent: where a row begins; what stands before it is the caller's.
    ///   - least: the width that no column is cut below.
    /// - Returns: a line for each row.
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
        // A width of 0 is that of a last cell, which has its lines already.
        let fitted = zip(cells, widths).map { $1 == 0 ? $0 : $0.fitted(to: $1) }
        return fitted.joined(separator: "  ").withoutBlanksAtEnd
    }
}

extension String {
    /// The text with blanks to a width, or cut to it.
    fileprivate func fitted(to width: Int) -> String {
        count > width ? prefix(width - 1) + "…" : self + String(repeating: " ", count: width - count)
    }

    fileprivate var withoutBlanksAtEnd: String {
        var text = utf8[...]
        while text.last == UInt8(ascii: " ") { text.removeLast() }
        return String(Substring(text))
    }
}
