import Addresses

/// A file's text and where all in it stands, for edits that leave all else as it is, byte for byte.
struct ScannedText: Sendable {
    /// The mark that some editors put before a text; empty if there is none.
    let mark: [UInt8]
    /// The text less the mark.
    let bytes: [UInt8]
    let headers: [KeyScanner.Header]
    let pairs: [KeyScanner.Pair]
    let comments: [KeyScanner.Comment]

    /// Looks for everything.
    ///
    /// - Throws: `SettingsError` if the text isn't valid TOML.
    init(_ text: String, file: String) throws(SettingsError) {
        let unmarked = TOMLGuard.withoutMark(text)
        mark = Array(text.utf8.prefix(text.utf8.count - unmarked.utf8.count))
        bytes = Array(unmarked.utf8)
        var scanner = KeyScanner(bytes, notesLines: true)
        scanner.scan()
        if let fault = scanner.fault {
            throw SettingsError(file: file, line: fault.line, message: "not valid TOML: \(fault.message)")
        }
        (headers, pairs, comments) = (scanner.headers, scanner.pairs, scanner.comments)
    }

    /// The lines without their ends; the last one is empty if the text ends with a line.
    var rows: [ArraySlice<UInt8>] {
        bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    }

    /// How the text ends its lines, going by its first.
    var lineEnd: String {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")), end > 0 else { return "\n" }
        return bytes[end - 1] == UInt8(ascii: "\r") ? "\r\n" : "\n"
    }

    /// The text with other bytes behind its mark.
    func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: mark + bytes, as: UTF8.self) }

    /// The row where a header's own begin: with comments right above it, but one that opens the file belongs to the file.
    static func start(of header: Int, in rows: [ArraySlice<UInt8>]) -> Int {
        var start = header
        while start > 0, rows[start - 1].isComment { start -= 1 }
        return start == 0 ? header : start
    }
}

extension ArraySlice<UInt8> {
    /// Whether a row has nothing but blanks.
    var isBlank: Bool { allSatisfy(\.isBlankOrReturn) }

    fileprivate var isComment: Bool { first { !$0.isBlank } == UInt8(ascii: "#") }
}

extension UInt8 {
    /// Whether it is a space within a line, or ends one as Windows does.
    var isBlankOrReturn: Bool { isBlank || self == UInt8(ascii: "\r") }
}
