import Addresses

/// The positions of the tables `[[name]]` in a file's text, for edits that leave everything else unchanged, byte for
/// byte.
public struct TableBlocks: Sendable {
    /// The lines of each table, counted from 0: from the comment directly above its header, if any, to its last value.
    public let lines: [Range<Int>]

    private let scanned: ScannedText

    /// Finds the tables with a name.
    ///
    /// Tables in another notation, such as an array of inline tables, aren't found.
    ///
    /// - Throws: `SettingsError` if the text isn't valid TOML.
    public init(of name: String, file: String, text: String) throws(SettingsError) {
        let scanned = try ScannedText(text, file: file)
        let rows = scanned.rows
        self.scanned = scanned
        lines = scanned.headers.indices.compactMap { index in
            let header = scanned.headers[index]
            guard header.isElement, header.names == [name] else { return nil }
            // A `[name.x]` that follows is part of it.
            let parts = scanned.headers[(index + 1)...].prefix { $0.names.first == name && $0.names.count > 1 }
            return ScannedText.start(of: header.line - 1, in: rows)..<(parts.last ?? header).lastLine
        }
    }

    /// Returns the text without a table, and without blank lines left at the end.
    public func removing(_ index: Int) -> String {
        let (rows, block) = (scanned.rows, lines[index])
        var before = rows[..<block.lowerBound]
        var after = rows[block.upperBound...]
        // Leave a single gap between the remaining parts.
        if after.first?.isBlank ?? true, before.last?.isBlank ?? true { after = after.dropFirst() }
        if after.allSatisfy(\.isBlank) {
            while before.last?.isBlank ?? false { before.removeLast() }
            after = before.isEmpty ? [] : [[]]
        }
        return joined(before + after)
    }

    /// Returns the text with another table in place of one, below all of the old one's comments.
    public func replacing(_ index: Int, with table: String) -> String {
        let (rows, block) = (scanned.rows, lines[index])
        let kept = scanned.comments.filter { block.contains($0.line - 1) }.map { $0.text.trimmed(of: " \t\r") }
        let carriageReturn = scanned.lineEnd == "\n" ? "" : "\r"
        let new = (kept + table.pieces(between: "\n")).map { Array("\($0)\(carriageReturn)".utf8)[...] }
        return joined(rows[..<block.lowerBound] + new + rows[block.upperBound...])
    }

    /// Returns the text with a table added at the end.
    public func appending(_ table: String) -> String {
        let (bytes, lineEnd) = (scanned.bytes, scanned.lineEnd)
        let end = bytes.isEmpty || bytes.last == UInt8(ascii: "\n") ? "" : lineEnd
        let isApart = bytes.isEmpty || scanned.rows.suffix(2).allSatisfy(\.isBlank)
        let new = end + (isApart ? "" : lineEnd) + table.pieces(between: "\n").joined(separator: lineEnd) + lineEnd
        return scanned.text(bytes + Array(new.utf8))
    }

    private func joined(_ rows: some Sequence<ArraySlice<UInt8>>) -> String {
        scanned.text(rows.joined(separator: [UInt8(ascii: "\n")]))
    }
}
