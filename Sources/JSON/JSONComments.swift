/// JSON with comments, as in the files of Visual Studio Code and dev containers: `//`, `/* */`, and a comma after the
/// last element.
enum JSONComments {
    /// Returns the text with these replaced by blanks, byte for byte, so that everything else keeps its position.
    ///
    /// An unterminated comment stays, which makes the text invalid JSON.
    static func blanked(_ bytes: [UInt8]) -> [UInt8] {
        var plain = bytes
        var index = 0
        // The position of the last comma, if it follows an element, and only blanks and comments have come after it.
        var comma: Int?
        var last = UInt8(ascii: "{")
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index = endOfString(bytes, from: index)
                (last, comma) = (UInt8(ascii: "\""), nil)
                continue
            case UInt8(ascii: "/"):
                if let end = endOfComment(bytes, from: index) {
                    for place in index..<end where !bytes[place].isLineEnd { plain[place] = UInt8(ascii: " ") }
                    index = end
                    continue
                }
                (last, comma) = (bytes[index], nil)
            case UInt8(ascii: ","):
                comma = "{[,:".utf8.contains(last) ? nil : index
                last = bytes[index]
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                if let comma { plain[comma] = UInt8(ascii: " ") }
                (last, comma) = (bytes[index], nil)
            case let byte where byte.isJSONBlank: break
            default: (last, comma) = (bytes[index], nil)
            }
            index += 1
        }
        return plain
    }

    /// Returns the position after the string that begins there.
    private static func endOfString(_ bytes: [UInt8], from start: Int) -> Int {
        var index = start + 1
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\\"): index += 2
            case UInt8(ascii: "\""): return index + 1
            default: index += 1
            }
        }
        return bytes.count
    }

    /// Returns the position after the comment that begins there; nil if there is none, or if it is unterminated.
    static func endOfComment(_ bytes: [UInt8], from start: Int) -> Int? {
        guard start + 1 < bytes.count else { return nil }
        switch bytes[start + 1] {
        case UInt8(ascii: "/"): return bytes[start...].firstIndex(where: \.isLineEnd) ?? bytes.count
        case UInt8(ascii: "*"):
            var index = start + 2
            while index + 1 < bytes.count {
                if bytes[index] == UInt8(ascii: "*"), bytes[index + 1] == UInt8(ascii: "/") { return index + 2 }
                index += 1
            }
            return nil
        default: return nil
        }
    }
}

extension UInt8 {
    var isJSONBlank: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }

    fileprivate var isLineEnd: Bool { self == 0x0A || self == 0x0D }
}
