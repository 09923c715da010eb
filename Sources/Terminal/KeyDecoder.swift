/// Bytes from a terminal as keys.
struct KeyDecoder {
    enum Key: Equatable {
        /// What the byte itself says: a character's part, or a control key.
        case byte(UInt8)
        case up
        case down
        case first
        case last
        /// A key that means nothing here.
        case other
    }

    /// Where in a key's escape sequence the last byte was.
    private enum Escape {
        case none
        case begun
        case sequence([UInt8])
    }

    /// No key that has a meaning here has more.
    private static let longestSequence = 4

    private var escape = Escape.none

    /// Takes a byte; nil in the middle of a key.
    mutating func take(_ byte: UInt8) -> Key? {
        switch escape {
        case .none:
            guard byte == 0x1B else { return .byte(byte) }
            escape = .begun
            return nil
        case .begun:
            let isSequence = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O")
            escape = isSequence ? .sequence([]) : .none
            return isSequence ? nil : .other
        case .sequence(let bytes):
            guard (0x40...0x7E).contains(byte) else {
                escape = .sequence(bytes.count < Self.longestSequence ? bytes + [byte] : bytes)
                return nil
            }
            escape = .none
            return Self.key(String(decoding: bytes + [byte], as: UTF8.self))
        }
    }

    private static func key(_ sequence: String) -> Key {
        switch sequence {
        case "A": .up
        case "B": .down
        case "H", "1~", "7~": .first
        case "F", "4~", "8~": .last
        default: .other
        }
    }
}
