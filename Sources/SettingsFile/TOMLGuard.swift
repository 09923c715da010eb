/// Finds text that TOMLKit must not see.
///
/// toml++ 3.4.0 takes for granted that a key follows the bracket of a table's header: `[` at the end of a line trips an
/// assertion, which in a release build is undefined behaviour. TOMLKit passes C strings, which a NUL cuts short, written
/// plainly or as an escape. Every line is looked at, whatever it belongs to: what a string or an array spreads over
/// lines may be refused for nothing, but nothing gets past.
enum TOMLGuard {
    /// What is wrong with a line, counted from 1.
    struct Fault {
        let line: Int
        let message: String
    }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static let escapes = ["\\u0000", "\\U00000000"]

    /// The text less a byte order mark, as editors on Windows write one.
    static func withoutMark(_ text: String) -> String {
        guard text.utf8.starts(with: byteOrderMark) else { return text }
        return String(Substring(text.utf8.dropFirst(byteOrderMark.count)))
    }

    /// The first fault, or nil where the parser may read the text.
    static func firstFault(in text: String) -> Fault? {
        if text.utf8.starts(with: byteOrderMark) { return Fault(line: 1, message: "a second byte order mark") }
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            if let message = fault(of: line) { return Fault(line: index + 1, message: message) }
        }
        return nil
    }

    private static func fault(of line: Substring.UTF8View) -> String? {
        if line.contains(0) { return "a NUL byte" }
        if line.contains(UInt8(ascii: "\\")), escapes.contains(where: { Substring(line).contains($0) }) {
            return "a NUL byte, written as an escape"
        }
        return hasKeyAfterBracket(line) ? nil : "a line that starts with a bracket needs a name in it"
    }

    private static func hasKeyAfterBracket(_ line: Substring.UTF8View) -> Bool {
        var rest = line.drop(while: \.isBlank)
        guard rest.first == UInt8(ascii: "[") else { return true }
        rest = rest.dropFirst()
        if rest.first == UInt8(ascii: "[") { rest = rest.dropFirst() }
        guard let next = rest.first(where: { !$0.isBlank }) else { return false }
        return next.isBareKeyByte || next == UInt8(ascii: "\"") || next == UInt8(ascii: "'")
    }
}

extension UInt8 {
    /// Whether TOML takes the byte for a space within a line.
    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    /// Whether the byte may stand in a key without quotes.
    var isBareKeyByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
