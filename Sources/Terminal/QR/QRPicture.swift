/// A QR code as lines of text: two modules a character, in black on white whatever the terminal's colours are.
package struct QRPicture {
    /// The lines, without a line feed at the end.
    package let text: String

    /// The light modules around the symbol, without which it isn't found.
    private static let quiet = 4

    /// Draws a text; nil if the screen can't show it: no colours, no UTF-8, or too small for it and the rows around it.
    package init?(_ content: String, fitting screen: Screen, besides otherRows: Int = 4) {
        guard screen.isTerminal, screen.hasColours, screen.isUTF8, let size = screen.size,
            let code = QRCode(content)
        else { return nil }
        let wide = code.side + 2 * Self.quiet
        guard wide < size.columns, (wide + 1) / 2 + otherRows < size.rows else { return nil }
        text = Self.draw(code)
    }

    private static func draw(_ code: QRCode) -> String {
        let modules = -quiet..<(code.side + quiet)
        return stride(from: modules.lowerBound, to: modules.upperBound, by: 2).map { row in
            let line = modules.map { column in
                // Light is the foreground: a terminal that draws blocks with gaps still leaves the dark ones whole.
                switch (code.isDark(row: row, column: column), code.isDark(row: row + 1, column: column)) {
                case (false, false): "█"
                case (false, true): "▀"
                case (true, false): "▄"
                case (true, true): " "
                }
            }
            return "\u{1B}[38;5;231;48;5;16m\(line.joined())\u{1B}[0m"
        }.joined(separator: "\n")
    }
}
