/// Keeps text from TOMLKit that it must not see.
///
/// TOMLKit passes C strings, which a NUL cuts short. That escape and what toml++ trips over are found by `KeyScanner`,
/// which knows where it stands.
enum TOMLGuard {
    /// What is wrong with a line, counted from 1.
    struct Fault: Error {
        let line: Int
        let message: String
    }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The text less a byte order mark, as editors on Windows write one.
    static func withoutMark(_ text: String) -> String {
        guard text.utf8.starts(with: byteOrderMark) else { return text }
        return String(Substring(text.utf8.dropFirst(byteOrderMark.count)))
    }

    /// Passes over the text.
    ///
    /// - Returns: where its keys are.
    /// - Throws: the first fault, if the parser may not read the text.
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
    /// Whether TOML takes the byte for a space within a line.
    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
