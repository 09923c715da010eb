/// A QR code as lines of text, two modules per character, in black on white whatever the terminal's colours are.
package struct QRPicture {
    /// The lines, without a line feed at the end.
    package let text: String

    /// The widths of the quiet zone to try: the standard's, then the narrowest with which readers still find the
    /// symbol.
    private static let quietZones = [4, 2]

    /// Draws a text; nil if the screen has no colours or no UTF-8, or is too small for the picture and the rows around
    /// it.
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
                // Light modules are the foreground, so that dark ones stay whole even if the terminal draws blocks with
                // gaps.
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
