/// Keeps text from TOMLKit that it can't handle.
///
/// TOMLKit passes C strings, which a NUL cuts short. Escaped NULs, and the texts that toml++ can't handle, are found by
/// `KeyScanner`, which tracks the syntax.
enum TOMLGuard {
    /// A defect in a line, counted from 1.
    struct Fault: Error {
        let line: Int
        let message: String
    }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Returns the text without the byte order mark that editors on Windows write.
    static func withoutMark(_ text: String) -> String {
        guard text.utf8.starts(with: byteOrderMark) else { return text }
        return String(Substring(text.utf8.dropFirst(byteOrderMark.count)))
    }

    /// Scans the text.
    ///
    /// - Returns: The positions of its keys.
    /// - Throws: The first fault, if the parser must not read the text.
    static func scan(_ text: String) throws(Fault) -> KeyLines {
        if text.utf8.starts(with: byteOrderMark) { throw Fault(line: 1, message: "a second byte order mark") }
        let bytes = Array(text.utf8)
        if let cut = bytes.firstIndex(of: 0) {
            let line = 1 + bytes[..<cut].count { $0 == UInt8(ascii: "\n") }
            throw Fault(line: line, message: "a NUL character")
        }
        var scanner = KeyScanner(bytes)
        scanner.scan()
        if let fault = scanner.fault { throw fault }
        return KeyLines(text, headers: scanner.headers)
    }
}

extension UInt8 {
    /// Whether TOML treats the byte as a space within a line.
    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
