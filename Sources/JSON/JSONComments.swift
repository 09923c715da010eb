/// JSON with comments, as Visual Studio Code's files and dev containers have it: `//` and `/* */`, and a comma behind the last element.
enum JSONComments {
    /// The text with a blank in place of each byte of that, so that everything else stays where it is.
    ///
    /// A comment without an end stays, which is no JSON.
    static func blanked(_ bytes: [UInt8]) -> [UInt8] {
        var plain = bytes
        var index = 0
        // Where the last comma is, if it is behind an element, and nothing but blanks and comments has followed.
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

    /// Behind the string that begins there.
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

    /// Behind the comment that begins there; nil if none does, or it has no end.
    private static func endOfComment(_ bytes: [UInt8], from start: Int) -> Int? {
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
