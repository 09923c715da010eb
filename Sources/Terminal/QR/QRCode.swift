/// A QR code (ISO/IEC 18004) for a short text, such as a URL to open on a phone.
struct QRCode: Sendable, Equatable {
    /// The number of modules per side, without the quiet zone.
    let side: Int
    private let dark: [Bool]

    /// Encodes a text in byte mode; nil if it doesn't fit a symbol with 57 modules per side.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let version = QRVersion(holding: bytes.count) else { return nil }
        let codewords = Self.codewords(for: bytes, version)
        // Picks the mask that makes the symbol easiest to read.
        var best: (matrix: QRMatrix, penalty: Int)?
        for mask in 0..<8 {
            var matrix = QRMatrix(version)
            matrix.place(codewords, mask: mask)
            let penalty = matrix.penalty
            if best.map({ penalty < $0.penalty }) ?? true { best = (matrix, penalty) }
        }
        guard let best else { return nil }
        side = version.side
        dark = best.matrix.dark
    }

    /// Whether a module is dark; modules outside the symbol, in its quiet zone, are light.
    func isDark(row: Int, column: Int) -> Bool {
        (0..<side).contains(row) && (0..<side).contains(column) && dark[row * side + column]
    }

    /// Returns data and error correction, interleaved (7.4 to 7.6).
    private static func codewords(for bytes: [UInt8], _ version: QRVersion) -> [UInt8] {
        var bits = Bits()
        bits.append(4, count: 4)
        bits.append(bytes.count, count: version.countBits)
        for byte in bytes { bits.append(Int(byte), count: 8) }
        let data = bits.padded(to: version.dataCodewords)

        // If the data doesn't divide evenly, the first blocks are one codeword shorter.
        let (short, longer) = data.count.quotientAndRemainder(dividingBy: version.blocks)
        var blocks: [ArraySlice<UInt8>] = []
        var start = 0
        for index in 0..<version.blocks {
            let count = index < version.blocks - longer ? short : short + 1
            blocks.append(data[start..<(start + count)])
            start += count
        }
        let corrections = blocks.map { GaloisField.correction(for: $0, count: version.correction) }
        var result: [UInt8] = []
        for index in 0...short {
            for block in blocks where index < block.count { result.append(block[block.startIndex + index]) }
        }
        for index in 0..<version.correction { result += corrections.map { $0[index] } }
        return result
    }

    /// A sequence of bits; numbers are appended with the highest bit first.
    private struct Bits {
        private var bits: [Bool] = []

        mutating func append(_ number: Int, count: Int) {
            for bit in (0..<count).reversed() { bits.append((number >> bit) & 1 == 1) }
        }

        /// Returns whole bytes, with terminator and padding.
        func padded(to count: Int) -> [UInt8] {
            var all = bits
            all += [Bool](repeating: false, count: min(4, count * 8 - all.count))
            all += [Bool](repeating: false, count: (8 - all.count % 8) % 8)
            var bytes = stride(from: 0, to: all.count, by: 8).map { start in
                all[start..<(start + 8)].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
            }
            var pad: UInt8 = 0xEC
            while bytes.count < count {
                bytes.append(pad)
                pad ^= 0xEC ^ 0x11
            }
            return bytes
        }
    }
}
