/// The modules of a symbol under construction: function patterns first, then masked data (ISO/IEC 18004, 7.7 to 7.10).
struct QRMatrix {
    private let version: QRVersion
    private let side: Int
    private(set) var dark: [Bool]
    private var isFunction: [Bool]

    init(_ version: QRVersion) {
        self.version = version
        side = version.side
        dark = [Bool](repeating: false, count: side * side)
        isFunction = dark
        drawPatterns()
    }

    /// Places the masked codewords and the format information that names the mask.
    mutating func place(_ codewords: [UInt8], mask: Int) {
        drawFormat(mask: mask)
        var index = 0
        var column = side - 1
        var goesUp = true
        while column > 0 {
            // The vertical timing pattern has a column of its own.
            if column == 6 { column -= 1 }
            for step in 0..<side {
                let row = goesUp ? side - 1 - step : step
                for x in [column, column - 1] where !isFunction[row * side + x] {
                    let byte = index / 8 < codewords.count ? codewords[index / 8] : 0
                    let bit = (byte >> UInt8(7 - index % 8)) & 1 == 1
                    dark[row * side + x] = bit != Self.inverts(mask, row, x)
                    index += 1
                }
            }
            goesUp.toggle()
            column -= 2
        }
    }

    private static func inverts(_ mask: Int, _ row: Int, _ column: Int) -> Bool {
        switch mask {
        case 0: (row + column) % 2 == 0
        case 1: row % 2 == 0
        case 2: column % 3 == 0
        case 3: (row + column) % 3 == 0
        case 4: (row / 2 + column / 3) % 2 == 0
        case 5: row * column % 2 + row * column % 3 == 0
        case 6: (row * column % 2 + row * column % 3) % 2 == 0
        default: ((row + column) % 2 + row * column % 3) % 2 == 0
        }
    }

    // MARK: Function patterns

    private mutating func set(_ row: Int, _ column: Int, _ isDark: Bool) {
        guard (0..<side).contains(row), (0..<side).contains(column) else { return }
        dark[row * side + column] = isDark
        isFunction[row * side + column] = true
    }

    private mutating func drawPatterns() {
        for index in 0..<side {
            set(6, index, index % 2 == 0)
            set(index, 6, index % 2 == 0)
        }
        for (row, column) in [(3, 3), (3, side - 4), (side - 4, 3)] { drawFinder(row, column) }
        let centres = version.alignmentCentres
        for row in centres {
            for column in centres where !isFinder(row, column) { drawSquare(row, column, radius: 2) { $0 != 1 } }
        }
        drawFormat(mask: 0)
        drawVersion()
    }

    private func isFinder(_ row: Int, _ column: Int) -> Bool {
        (row == 6 && column == 6) || (row == 6 && column == side - 7) || (row == side - 7 && column == 6)
    }

    private mutating func drawFinder(_ row: Int, _ column: Int) {
        drawSquare(row, column, radius: 4) { $0 != 2 && $0 != 4 }
    }

    /// Draws rings around a centre; `isDark` gets each ring's distance.
    private mutating func drawSquare(_ row: Int, _ column: Int, radius: Int, isDark: (Int) -> Bool) {
        for y in -radius...radius {
            for x in -radius...radius { set(row + y, column + x, isDark(max(abs(x), abs(y)))) }
        }
    }

    private mutating func drawFormat(mask: Int) {
        let data = version.level.bits << 3 | mask
        let bits = (data << 10 | Self.remainder(of: data, by: 0x537, bits: 10)) ^ 0x5412
        func bit(_ index: Int) -> Bool { (bits >> index) & 1 == 1 }
        for index in 0..<6 { set(index, 8, bit(index)) }
        set(7, 8, bit(6))
        set(8, 8, bit(7))
        set(8, 7, bit(8))
        for index in 9..<15 { set(8, 14 - index, bit(index)) }
        for index in 0..<8 { set(8, side - 1 - index, bit(index)) }
        for index in 8..<15 { set(side - 15 + index, 8, bit(index)) }
        set(side - 8, 8, true)
    }

    private mutating func drawVersion() {
        guard version.number >= 7 else { return }
        let bits = version.number << 12 | Self.remainder(of: version.number, by: 0x1F25, bits: 12)
        for index in 0..<18 {
            let isDark = (bits >> index) & 1 == 1
            let (long, short) = (side - 11 + index % 3, index / 3)
            set(short, long, isDark)
            set(long, short, isDark)
        }
    }

    /// Returns the check bits of a BCH code.
    private static func remainder(of data: Int, by generator: Int, bits: Int) -> Int {
        var remainder = data
        for _ in 0..<bits { remainder = (remainder << 1) ^ ((remainder >> (bits - 1)) * generator) }
        return remainder
    }

    // MARK: Penalty

    /// How hard the symbol is to read (7.8.3): long runs, blocks, patterns like a finder, and too much of one colour.
    var penalty: Int {
        var total = 0
        for line in 0..<side {
            total += Self.penalty(of: (0..<side).map { dark[line * side + $0] })
            total += Self.penalty(of: (0..<side).map { dark[$0 * side + line] })
        }
        for row in 0..<(side - 1) {
            for column in 0..<(side - 1) {
                let corner = dark[row * side + column]
                let others = [(0, 1), (1, 0), (1, 1)]
                if others.allSatisfy({ dark[(row + $0.0) * side + column + $0.1] == corner }) { total += 3 }
            }
        }
        let percent = dark.count { $0 } * 100 / dark.count
        return total + abs(percent - 50) / 5 * 10
    }

    private static func penalty(of line: [Bool]) -> Int {
        var total = 0
        var run = 1
        for index in 1...line.count {
            if index < line.count, line[index] == line[index - 1] {
                run += 1
            } else {
                if run >= 5 { total += run - 2 }
                run = 1
            }
        }
        for pattern in finderLike {
            for start in 0...(line.count - pattern.count)
            where line[start..<(start + pattern.count)].elementsEqual(pattern) {
                total += 40
            }
        }
        return total
    }

    /// The cross section of a finder pattern with a quiet side.
    private static let finderLike: [[Bool]] = {
        let finder = [true, false, true, true, true, false, true]
        let quiet = [Bool](repeating: false, count: 4)
        return [finder + quiet, quiet + finder]
    }()
}

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
