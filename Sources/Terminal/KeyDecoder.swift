/// Decodes the bytes from a terminal into keys.
struct KeyDecoder {
    enum Key: Equatable {
        /// The byte itself: a part of a character, or a control key.
        case byte(UInt8)
        case up
        case down
        case first
        case last
        /// A key without a meaning here.
        case other
    }

    /// The position of the last byte in a key's escape sequence.
    private enum Escape {
        case none
        case begun
        case sequence([UInt8])
    }

    /// The length of the longest sequence of a key that has a meaning here, in bytes.
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
