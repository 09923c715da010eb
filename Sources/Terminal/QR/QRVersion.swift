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
