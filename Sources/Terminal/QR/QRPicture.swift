/// A QR code as lines of text: two modules a character, in black on white whatever the terminal's colours are.
package struct QRPicture {
    /// The lines, without a line feed at the end.
    package let text: String

    /// The light modules around the symbol: as many as the standard wants, else as few as it is still found with.
    private static let quietZones = [4, 2]

    /// Draws a text; nil if the screen can't show it: no colours, no UTF-8, or too small for it and the rows around it.
    package init?(_ content: String, fitting screen: Screen, besides otherRows: Int) {
        guard screen.isTerminal, screen.hasColours, screen.isUTF8, let size = screen.size,
            let code = QRCode(content)
        else { return nil }
        let quiet = Self.quietZones.first { quiet in
            let wide = code.side + 2 * quiet
            return wide < size.columns && (wide + 1) / 2 + otherRows < size.rows
        }
        guard let quiet else { return nil }
        text = Self.draw(code, quiet: quiet)
    }

    private static func draw(_ code: QRCode, quiet: Int) -> String {
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
