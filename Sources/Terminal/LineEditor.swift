/// A line as the user types it, byte by byte, without any input or output.
///
/// The kernel could edit lines too, but it cuts them at 4,095 bytes, and the URL at the end of a sign-in is longer.
struct LineEditor {
    /// The effect of a byte.
    enum Effect: Equatable {
        /// The line isn't complete; the bytes update the screen.
        case more(echo: [UInt8])
        /// Enter: the line.
        case line(String)
        /// Enter after too long a line; the next byte begins a new one.
        case tooLong
        /// Ctrl-D on an empty line.
        case end
    }

    /// The longest accepted line, in bytes.
    let longest: Int

    private var bytes: [UInt8] = []
    private var isTooLong = false
    private var keys = KeyDecoder()

    init(longest: Int) {
        self.longest = longest
    }

    mutating func receive(_ byte: UInt8) -> Effect {
        // Arrow keys and other special keys have no meaning here.
        guard case .byte(let byte)? = keys.receive(byte) else { return .more(echo: []) }
        switch byte {
        case 0x0A, 0x0D: return finish()
        case 0x04: return bytes.isEmpty && !isTooLong ? .end : .more(echo: [])
        case 0x08, 0x7F: return .more(echo: erase())
        case 0x15: return .more(echo: eraseAll())
        case 0x17: return .more(echo: eraseWord())
        case ..<0x20: return .more(echo: [])
        default: return .more(echo: append(byte))
        }
    }

    private mutating func append(_ byte: UInt8) -> [UInt8] {
        guard bytes.count < longest else {
            isTooLong = true
            return []
        }
        bytes.append(byte)
        return [byte]
    }

    private mutating func finish() -> Effect {
        defer {
            bytes = []
            isTooLong = false
        }
        return isTooLong ? .tooLong : .line(String(decoding: bytes, as: UTF8.self))
    }

    /// Removes the last character and returns the bytes that erase its columns.
    private mutating func erase() -> [UInt8] {
        guard let last = String(decoding: bytes, as: UTF8.self).last else { return [] }
        while let byte = bytes.popLast(), byte & 0xC0 == 0x80 {}
        for _ in last.unicodeScalars.dropFirst() {
            while let byte = bytes.popLast(), byte & 0xC0 == 0x80 {}
        }
        return Self.rubbingOut(last.columns)
    }

    private mutating func eraseAll() -> [UInt8] {
        isTooLong = false
        return eraseAll(from: 0)
    }

    /// Removes the last word and the blanks after it.
    private mutating func eraseWord() -> [UInt8] {
        let end = bytes.lastIndex { $0 != 0x20 } ?? bytes.startIndex
        return eraseAll(from: bytes[..<end].lastIndex(of: 0x20).map { $0 + 1 } ?? 0)
    }

    /// Removes everything from an index on in one step; character by character would take quadratic time.
    private mutating func eraseAll(from start: Int) -> [UInt8] {
        let columns = String(decoding: bytes[start...], as: UTF8.self).reduce(0) { $0 + $1.columns }
        bytes.removeSubrange(start...)
        return Self.rubbingOut(columns)
    }

    private static func rubbingOut(_ columns: Int) -> [UInt8] {
        Array(String(repeating: "\u{8} \u{8}", count: columns).utf8)
    }
}

extension Character {
    /// The number of columns that terminals give the character, accurate enough to erase it.
    var columns: Int {
        guard let scalar = unicodeScalars.first?.value else { return 0 }
        let isWide =
            (0x1100...0x115F).contains(scalar) || (0x2E80...0xA4CF).contains(scalar)
            || (0xAC00...0xD7A3).contains(scalar) || (0xF900...0xFAFF).contains(scalar)
            || (0xFE30...0xFE6F).contains(scalar) || (0xFF00...0xFF60).contains(scalar)
            || (0x1F300...0x1FAFF).contains(scalar) || (0x20000...0x3FFFD).contains(scalar)
        return isWide ? 2 : 1
    }
}

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
    mutating func receive(_ byte: UInt8) -> Key? {
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
