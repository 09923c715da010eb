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
        let corrections = blocks.map { Self.correction(for: $0, count: version.correction) }
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

/// A size of symbol (ISO/IEC 18004, 7.1): version 1 has 21 modules per side, each further version four more.
struct QRVersion {
    let number: Int
    let level: QRLevel

    /// The number of error correction codewords per block.
    var correction: Int { level.shapes[number - 1].correction }

    var blocks: Int { level.shapes[number - 1].blocks }

    /// The number of modules per side.
    var side: Int { 17 + 4 * number }

    /// The size of the character count in byte mode, in bits.
    var countBits: Int { number < 10 ? 8 : 16 }

    var dataCodewords: Int { codewords - correction * blocks }

    /// The total number of codewords: what the function patterns leave room for.
    var codewords: Int {
        var modules = (16 * number + 128) * number + 64
        if number >= 2 {
            let alignments = number / 7 + 2
            modules -= (25 * alignments - 10) * alignments - 55
            if number >= 7 { modules -= 36 }
        }
        return modules / 8
    }

    /// The positions of the alignment patterns' centres, in either direction.
    var alignmentCentres: [Int] {
        guard number >= 2 else { return [] }
        let count = number / 7 + 2
        let step = (number * 4 + count * 2 + 1) / (count * 2 - 2) * 2
        return [6] + (0..<(count - 1)).map { side - 7 - $0 * step }.reversed()
    }

    private var capacity: Int { dataCodewords - (4 + countBits + 7) / 8 }
}

extension QRVersion {
    /// Finds the smallest version that holds a number of bytes, with the most error correction that fits it.
    ///
    /// Versions up to 10 hold any URL that a user could type; larger ones fit no terminal.
    init?(holding bytes: Int) {
        let all = (1...10).lazy.flatMap { number in
            QRLevel.allCases.reversed().map { QRVersion(number: number, level: $0) }
        }
        guard let version = all.first(where: { $0.capacity >= bytes }) else { return nil }
        self = version
    }
}

/// A level of error correction, by how much of a symbol may be damaged.
enum QRLevel: Int, CaseIterable {
    case low, medium, quartile, high

    /// The level as encoded in the format information.
    var bits: Int { [1, 0, 3, 2][rawValue] }

    /// Error correction codewords per block and the number of blocks, for versions 1 to 10 (table 9).
    var shapes: [(correction: Int, blocks: Int)] {
        switch self {
        case .low:
            [(7, 1), (10, 1), (15, 1), (20, 1), (26, 1), (18, 2), (20, 2), (24, 2), (30, 2), (18, 4)]
        case .medium:
            [(10, 1), (16, 1), (26, 1), (18, 2), (24, 2), (16, 4), (18, 4), (22, 4), (22, 5), (26, 5)]
        case .quartile:
            [(13, 1), (22, 1), (18, 2), (26, 2), (18, 4), (24, 4), (18, 6), (22, 6), (20, 8), (24, 8)]
        case .high:
            [(17, 1), (28, 1), (22, 2), (16, 4), (22, 4), (28, 4), (26, 5), (26, 6), (24, 8), (28, 8)]
        }
    }
}

// Arithmetic for the error correction of ISO/IEC 18004: the field of 256 elements modulo x⁸ + x⁴ + x³ + x² + 1.
extension QRCode {
    private static func multiply(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var product: UInt16 = 0
        for bit in (0..<8).reversed() {
            product = (product << 1) ^ ((product >> 7) * 0x11D)
            product ^= UInt16((right >> UInt8(bit)) & 1) * UInt16(left)
        }
        return UInt8(truncatingIfNeeded: product)
    }

    /// Returns the error correction codewords for a block of data (Reed–Solomon).
    private static func correction(for data: ArraySlice<UInt8>, count: Int) -> [UInt8] {
        let divisor = generator(degree: count)
        var remainder = [UInt8](repeating: 0, count: count)
        for byte in data {
            let factor = byte ^ remainder.removeFirst()
            remainder.append(0)
            for index in 0..<count { remainder[index] ^= multiply(divisor[index], factor) }
        }
        return remainder
    }

    /// Returns the product of (x − 2ⁱ) without its leading coefficient, highest power first.
    private static func generator(degree: Int) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: degree - 1) + [1]
        var root: UInt8 = 1
        for _ in 0..<degree {
            for index in 0..<degree {
                result[index] = multiply(result[index], root)
                if index + 1 < degree { result[index] ^= result[index + 1] }
            }
            root = multiply(root, 2)
        }
        return result
    }
}
