/// Arithmetic for the error correction of ISO/IEC 18004: the field of 256 elements modulo x⁸ + x⁴ + x³ + x² + 1.
enum GaloisField {
    static func multiply(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var product: UInt16 = 0
        for bit in (0..<8).reversed() {
            product = (product << 1) ^ ((product >> 7) * 0x11D)
            product ^= UInt16((right >> UInt8(bit)) & 1) * UInt16(left)
        }
        return UInt8(truncatingIfNeeded: product)
    }

    /// Returns the error correction codewords for a block of data (Reed–Solomon).
    static func correction(for data: ArraySlice<UInt8>, count: Int) -> [UInt8] {
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
