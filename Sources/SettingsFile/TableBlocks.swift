import Addresses

/// Where the tables `[[name]]` stand in a file's text, for edits that leave all else as it is, byte for byte.
public struct TableBlocks: Sendable {
    /// The lines of each table, counted from 0: the comment right above its header, if any, up to its last value.
    public let lines: [Range<Int>]

    private let rows: [Substring.UTF8View]
    private let comments: [KeyScanner.Comment]
    private let text: String

    /// Looks for the tables of a name.
    ///
    /// Tables that are written another way, such as in an array of inline tables, are not found.
    ///
    /// - Throws: `SettingsError` if the text can't be TOML.
    public init(of name: String, file: String, text: String) throws(SettingsError) {
        self.text = text
        var scanner = KeyScanner(TOMLGuard.withoutMark(text))
        scanner.scan()
        if let fault = scanner.fault {
            throw SettingsError(file: file, line: fault.line, message: "not valid TOML: \(fault.message)")
        }
        let rows = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { Substring($0).utf8 }
        self.rows = rows
        comments = scanner.comments
        lines = scanner.headers.indices.compactMap { index in
            let header = scanner.headers[index]
            guard header.isElement, header.names == [name] else { return nil }
            // `[name.x]` that follows is a part of it.
            let parts = scanner.headers[(index + 1)...].prefix { $0.names.first == name && $0.names.count > 1 }
            return Self.start(of: header.line - 1, in: rows)..<(parts.last ?? header).lastLine
        }
    }

    /// The text less a table, and less the blank lines that would be left at the end.
    public func removing(_ index: Int) -> String {
        let block = lines[index]
        var before = rows[..<block.lowerBound]
        var after = rows[block.upperBound...]
        // One gap between what is left, not two.
        if after.first.map(Self.isBlank) ?? true, before.last.map(Self.isBlank) ?? true { after = after.dropFirst() }
        if after.allSatisfy(Self.isBlank) {
            while before.last.map(Self.isBlank) ?? false { before.removeLast() }
            after = before.isEmpty ? [] : [""[...].utf8]
        }
        return (before + after).map { String(Substring($0)) }.joined(separator: "\n")
    }

    /// The text with another table in place of one, below all comments that the one has.
    public func replacing(_ index: Int, with table: String) -> String {
        let block = lines[index]
        let kept = comments.filter { block.contains($0.line - 1) }.map { $0.text.trimmed(of: " \t\r") }
        let carriageReturn = lineEnd == "\n" ? "" : "\r"
        let new = (kept + table.pieces(between: "\n")).map { String($0) + carriageReturn }
        let before = rows[..<block.lowerBound].map { String(Substring($0)) }
        let after = rows[block.upperBound...].map { String(Substring($0)) }
        return (before + new + after).joined(separator: "\n")
    }

    private var lineEnd: String {
        text.utf8.contains(UInt8(ascii: "\r")) && rows.first?.last == UInt8(ascii: "\r") ? "\r\n" : "\n"
    }

    /// The text with a table after all else.
    public func appending(_ table: String) -> String {
        let ended = text.isEmpty || text.utf8.last == UInt8(ascii: "\n") ? text : text + lineEnd
        let gap = ended.isEmpty || rows.suffix(2).allSatisfy(Self.isBlank) ? "" : lineEnd
        return ended + gap + table.pieces(between: "\n").joined(separator: lineEnd) + lineEnd
    }

    /// A comment that stands right above a header belongs to it; one that opens the file belongs to the file.
    static func start(of header: Int, in rows: [Substring.UTF8View]) -> Int {
        var start = header
        while start > 0, isComment(rows[start - 1]) { start -= 1 }
        return start == 0 ? header : start
    }

    private static func isBlank(_ row: Substring.UTF8View) -> Bool {
        row.allSatisfy { $0.isBlank || $0 == UInt8(ascii: "\r") }
    }

    private static func isComment(_ row: Substring.UTF8View) -> Bool {
        row.first { !$0.isBlank } == UInt8(ascii: "#")
    }
}
