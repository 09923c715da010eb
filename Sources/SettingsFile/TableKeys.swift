import Addresses
import Terminal

/// The positions of the keys of a table, or of the top-level keys, in a file's text, for edits that leave everything
/// else unchanged, byte for byte.
public struct TableKeys: Sendable {
    private let document: TOMLDocument
    private var bytes: [UInt8] { document.bytes }
    /// The name, whose parts are separated by dots.
    private let table: String?
    /// The table's header; nil for the top level, or if there is none yet.
    private let header: TOMLDocument.Header?
    private let pairs: [TOMLDocument.Pair]
    private let firstHeader: Int?

    /// Finds the keys of the table `[table]`, or the top-level keys.
    ///
    /// - Throws: `SettingsError` if the text isn't valid TOML, or if the table is written as an inline table.
    public init(of table: String? = nil, file: String, text: String) throws(SettingsError) {
        self.table = table
        let document = try TOMLDocument(text, file: file)
        self.document = document
        let path = (table ?? "").pieces(between: ".").map(String.init)
        let number = document.headers.firstIndex { !$0.isElement && $0.names == path }
        let inTop = document.pairs.first { $0.header == nil && $0.names.first == path.first }
        if let table, number == nil, let pair = inTop {
            let line = 1 + document.bytes[..<pair.start].count { $0 == UInt8(ascii: "\n") }
            throw SettingsError(
                file: file, line: line, message: "\(table) is not written as a table",
                hint: "write it as [\(table)], with a line for each key")
        }
        header = number.map { document.headers[$0] }
        pairs = table != nil && number == nil ? [] : document.pairs.filter { $0.header == number }
        firstHeader = document.headers.first?.line
    }

    /// Returns a key's value as written; nil if it has none.
    public func value(of key: String) -> String? {
        pairs.first { $0.names == [key] }.map { String(decoding: bytes[valueRange(of: $0)], as: UTF8.self) }
    }

    /// Whether the table has a header; true for the top level, which needs none.
    public var hasTable: Bool { table == nil || header != nil }

    /// Whether a blank line is written after a new key, because a table follows that is a separate paragraph.
    public var setsNewKeyApart: Bool { table == nil && pairs.isEmpty && firstHeader != nil }

    /// Returns the text with a key set to a value in TOML syntax; a new key is added below all others.
    public func setting(_ key: String, to value: String) -> String {
        if let pair = pairs.first(where: { $0.names == [key] }) {
            return replacing(valueRange(of: pair), with: value)
        }
        if let table, header == nil {
            return replacing(bytes.count..<bytes.count, with: newTable(table, "\(key) = \(value)"))
        }
        let place = placeForNewKey
        let isAtLineStart = place == 0 || bytes[place - 1] == UInt8(ascii: "\n")
        let gap = setsNewKeyApart ? lineEnd : ""
        return replacing(place..<place, with: "\(isAtLineStart ? "" : lineEnd)\(key) = \(value)\(lineEnd)\(gap)")
    }

    /// Returns the text without a key's lines; nil if it doesn't have the key.
    ///
    /// If the key was set apart, the blank line after it is removed, too. If it was the only key, the table's header is
    /// also removed, unless the table is kept or more than the header is on its line.
    public func removing(_ key: String, setApart isApart: Bool = false, keepingTable isKept: Bool = false) -> String? {
        guard let pair = pairs.first(where: { $0.names == [key] }) else { return nil }
        var end = endOfLine(from: pair.value.upperBound)
        let next = endOfLine(from: end)
        if isApart, bytes[end..<next].allSatisfy({ $0.isBlankOrReturn || $0 == UInt8(ascii: "\n") }) { end = next }
        var start = startOfLine(from: pair.start)
        if let header, let table, pairs.count == 1, !isKept {
            let place = startOfLine(header.line)
            // Anything after the header, or between it and the key, must stay.
            let line = String(decoding: bytes[place..<start], as: UTF8.self)
            if endOfLine(from: place) == start, line.trimmed(of: " \t\r\n") == "[\(table)]" { start = place }
            // At the end of the text, remove the blank line that set the table apart, too.
            if start == place, place > 0, end == bytes.count {
                let gap = startOfLine(from: place - 1)
                if bytes[gap..<place - 1].allSatisfy(\.isBlankOrReturn) { start = gap }
            }
        }
        return replacing(start..<end, with: "")
    }

    private func valueRange(of pair: TOMLDocument.Pair) -> Range<Int> {
        var end = pair.value.upperBound
        while end > pair.value.lowerBound, bytes[end - 1].isBlankOrReturn { end -= 1 }
        return pair.value.lowerBound..<end
    }

    /// Returns a table for the end of the text, with a blank line before it.
    private func newTable(_ table: String, _ line: String) -> String {
        let isEnded = bytes.isEmpty || bytes.last == UInt8(ascii: "\n")
        return (isEnded ? "" : lineEnd) + (bytes.isEmpty ? "" : lineEnd) + "[\(table)]\(lineEnd)\(line)\(lineEnd)"
    }

    private func startOfLine(from place: Int) -> Int {
        bytes[..<place].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    }

    /// Returns the offset of a line, counted from 1.
    private func startOfLine(_ line: Int) -> Int {
        var place = 0
        for _ in 1..<line { place = endOfLine(from: place) }
        return place
    }

    /// The offset for a new key: after the last key or the table's header; or before the first table and its comment;
    /// or at the end.
    private var placeForNewKey: Int {
        if let last = pairs.last { return endOfLine(from: last.value.upperBound) }
        if let header { return endOfLine(from: startOfLine(header.line)) }
        guard let firstHeader else { return bytes.count }
        let rows = document.rows
        return rows[TOMLDocument.start(of: firstHeader - 1, in: rows)].startIndex
    }

    private func endOfLine(from place: Int) -> Int {
        bytes[place...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.count
    }

    private func replacing(_ range: Range<Int>, with new: String) -> String {
        document.text(bytes[..<range.lowerBound] + Array(new.utf8) + bytes[range.upperBound...])
    }

    private var lineEnd: String { document.lineEnd }
}

/// The positions of the tables `[[name]]` in a file's text, for edits that leave everything else unchanged, byte for
/// byte.
public struct TableBlocks: Sendable {
    /// The lines of each table, counted from 0: from the comment directly above its header, if any, to its last value.
    public let lines: [Range<Int>]

    private let document: TOMLDocument

    /// Finds the tables with a name.
    ///
    /// Tables in another notation, such as an array of inline tables, aren't found.
    ///
    /// - Throws: `SettingsError` if the text isn't valid TOML.
    public init(of name: String, file: String, text: String) throws(SettingsError) {
        let document = try TOMLDocument(text, file: file)
        let rows = document.rows
        self.document = document
        lines = document.headers.indices.compactMap { index in
            let header = document.headers[index]
            guard header.isElement, header.names == [name] else { return nil }
            // A `[name.x]` that follows is part of it.
            let parts = document.headers[(index + 1)...].prefix { $0.names.first == name && $0.names.count > 1 }
            return TOMLDocument.start(of: header.line - 1, in: rows)..<(parts.last ?? header).lastLine
        }
    }

    /// Returns the text without a table, and without blank lines left at the end.
    public func removing(_ index: Int) -> String {
        let (rows, block) = (document.rows, lines[index])
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
        let (rows, block) = (document.rows, lines[index])
        let kept = document.comments.filter { block.contains($0.line - 1) }.map { $0.text.trimmed(of: " \t\r") }
        let carriageReturn = document.lineEnd == "\n" ? "" : "\r"
        let new = (kept + table.pieces(between: "\n")).map { Array("\($0)\(carriageReturn)".utf8)[...] }
        return joined(rows[..<block.lowerBound] + new + rows[block.upperBound...])
    }

    /// Returns the text with a table added at the end.
    public func appending(_ table: String) -> String {
        let (bytes, lineEnd) = (document.bytes, document.lineEnd)
        let end = bytes.isEmpty || bytes.last == UInt8(ascii: "\n") ? "" : lineEnd
        let isApart = bytes.isEmpty || document.rows.suffix(2).allSatisfy(\.isBlank)
        let new = end + (isApart ? "" : lineEnd) + table.pieces(between: "\n").joined(separator: lineEnd) + lineEnd
        return document.text(bytes + Array(new.utf8))
    }

    private func joined(_ rows: some Sequence<ArraySlice<UInt8>>) -> String {
        document.text(rows.joined(separator: [UInt8(ascii: "\n")]))
    }
}
