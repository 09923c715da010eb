/// Parses one JSON document (RFC 8259), in a single pass without backtracking.
///
/// Foundation's decoder has to be asked for one type after the other until one fits, and each failure costs an error
/// that is longer the deeper the value is: four megabytes of nested arrays took it two minutes.
struct JSONReader {
    /// How deep objects and arrays may nest; MSAL's caches need four levels.
    static let deepest = 64

    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Parses the document; nil if it is invalid, nests too deep or has a number that is too large.
    mutating func document() -> JSONValue? {
        // RFC 8259, 8.1, forbids a byte order mark, but programs on Windows write one.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        let value = value()
        skipBlanks()
        return position == bytes.count ? value : nil
    }

    /// Returns the position where the bytes stop being a document; nil if they are one.
    static func fault(in bytes: [UInt8]) -> Int? {
        var reader = JSONReader(bytes)
        return reader.document() == nil ? min(reader.position, bytes.count) : nil
    }

    /// A member of an object: the position of its name, and its value with the range of that.
    struct Member {
        let name: String
        let start: Int
        let content: JSONValue
        let value: Range<Int>
    }

    /// Returns the members of the object at a position, and its end; nil if no object begins there.
    mutating func members(at place: Int) -> (all: [Member], end: Int)? {
        position = place
        return members().map { ($0, position) }
    }

    private mutating func members() -> [Member]? {
        guard skips("{") else { return nil }
        var members: [Member] = []
        guard !skips("}") else { return members }
        repeat {
            skipBlanks()
            let start = position
            guard let name = string(), skips(":") else { return nil }
            skipBlanks()
            let value = position
            guard let content = self.value() else { return nil }
            members.append(Member(name: name, start: start, content: content, value: value..<position))
        } while skips(",")
        return skips("}") ? members : nil
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func value() -> JSONValue? {
        skipBlanks()
        switch next {
        case UInt8(ascii: "\""): return string().map(JSONValue.string)
        case UInt8(ascii: "{"): return nested { $0.object() }
        case UInt8(ascii: "["): return nested { $0.array() }
        case UInt8(ascii: "t"): return skip("true") ? .bool(true) : nil
        case UInt8(ascii: "f"): return skip("false") ? .bool(false) : nil
        case UInt8(ascii: "n"): return skip("null") ? .null : nil
        default: return number()
        }
    }

    private mutating func nested(_ read: (inout JSONReader) -> JSONValue?) -> JSONValue? {
        guard depth < Self.deepest else { return nil }
        depth += 1
        defer { depth -= 1 }
        return read(&self)
    }

    private mutating func object() -> JSONValue? {
        guard let members = members() else { return nil }
        return .object(Dictionary(members.lazy.map { ($0.name, $0.content) }) { first, _ in first })
    }

    private mutating func array() -> JSONValue? {
        guard skips("[") else { return nil }
        var values: [JSONValue] = []
        guard !skips("]") else { return .array(values) }
        repeat {
            guard let value = value() else { return nil }
            values.append(value)
        } while skips(",")
        return skips("]") ? .array(values) : nil
    }

    // MARK: Strings

    private mutating func string() -> String? {
        guard skip("\"") else { return nil }
        let start = position
        skipPlain()
        guard next == UInt8(ascii: "\\") else {
            let text = bytes[start..<position]
            return skip("\"") ? String(validating: text, as: UTF8.self) : nil
        }
        var text = Array(bytes[start..<position])
        while skip("\\") {
            guard let scalar = escaped() else { return nil }
            text.append(contentsOf: scalar.utf8)
            let start = position
            skipPlain()
            text += bytes[start..<position]
        }
        return skip("\"") ? String(validating: text, as: UTF8.self) : nil
    }

    /// Skips unescaped characters: everything but quotes, backslashes and control characters.
    private mutating func skipPlain() {
        while let byte = next, byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { position += 1 }
    }

    /// Reads the rest of an escape, after the backslash.
    private mutating func escaped() -> Unicode.Scalar? {
        guard let byte = next else { return nil }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return scalar()
        default: return nil
        }
    }

    /// Reads the scalar of one `\uXXXX`, or of two that are a surrogate pair; nil for half a pair.
    private mutating func scalar() -> Unicode.Scalar? {
        guard let unit = codeUnit() else { return nil }
        guard UTF16.isLeadSurrogate(unit) else { return Unicode.Scalar(unit) }
        guard skip("\\u"), let trail = codeUnit(), UTF16.isTrailSurrogate(trail) else { return nil }
        return Unicode.Scalar(0x10000 + (UInt32(unit) & 0x3FF) << 10 + UInt32(trail) & 0x3FF)
    }

    private mutating func codeUnit() -> UInt16? {
        guard bytes.count - position >= 4 else { return nil }
        let digits = bytes[position..<position + 4]
        // Int's initializer also accepts a sign.
        guard digits.allSatisfy({ Unicode.Scalar($0).properties.isASCIIHexDigit }) else { return nil }
        position += 4
        return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    // MARK: Numbers

    private mutating func number() -> JSONValue? {
        let start = position
        _ = skip("-")
        let isZero = next == UInt8(ascii: "0")
        let count = skipDigits()
        guard count > 0, !isZero || count == 1 else { return nil }
        if skip("."), skipDigits() == 0 { return nil }
        if skip("e") || skip("E") {
            _ = skip("+") || skip("-")
            guard skipDigits() > 0 else { return nil }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if let number = Int64(text) { return .integer(number) }
        guard let number = Double(text), number.isFinite else { return nil }
        return Int64(exactly: number).map(JSONValue.integer) ?? .number(number)
    }

    private mutating func skipDigits() -> Int {
        let start = position
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        return position - start
    }

    // MARK: Single characters

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    /// Skips blanks and reads this text, if it follows.
    private mutating func skips(_ text: StaticString) -> Bool {
        skipBlanks()
        return skip(text)
    }

    /// Reads exactly this text, if it follows.
    private mutating func skip(_ text: StaticString) -> Bool {
        let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        guard bytes.count - position >= wanted.count,
            bytes[position..<position + wanted.count].elementsEqual(wanted)
        else { return false }
        position += wanted.count
        return true
    }
}

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
