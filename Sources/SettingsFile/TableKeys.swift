import Addresses

/// Where the keys of a table, or those above all tables, stand in a file's text, for edits that leave all else as it is, byte for byte.
public struct TableKeys: Sendable {
    private let scanned: ScannedText
    private var bytes: [UInt8] { scanned.bytes }
    private let table: String?
    /// The table's header; nil above all tables, or if there is none yet.
    private let header: KeyScanner.Header?
    private let pairs: [KeyScanner.Pair]
    private let firstHeader: Int?

    /// Looks for the keys of the table `[table]`, or of those above all tables.
    ///
    /// - Throws: `SettingsError` if the text can't be TOML, or the table is written as an inline table.
    public init(of table: String? = nil, file: String, text: String) throws(SettingsError) {
        self.table = table
        let scanned = try ScannedText(text, file: file)
        self.scanned = scanned
        let number = table.flatMap { table in
            scanned.headers.firstIndex { !$0.isElement && $0.names == [table] }
        }
        let inTop = scanned.pairs.first { $0.header == nil && $0.names.first == table }
        if let table, number == nil, let pair = inTop {
            let line = 1 + scanned.bytes[..<pair.start].count { $0 == UInt8(ascii: "\n") }
            throw SettingsError(
                file: file, line: line, message: "\(table) is not written as a table",
                hint: "write it as [\(table)], with a line for each key")
        }
        header = number.map { scanned.headers[$0] }
        pairs = table != nil && number == nil ? [] : scanned.pairs.filter { $0.header == number }
        firstHeader = scanned.headers.first?.line
    }

    /// A key's value as it is written; nil if it has none.
    public func value(of key: String) -> String? {
        pairs.first { $0.names == [key] }.map { String(decoding: bytes[valueRange(of: $0)], as: UTF8.self) }
    }

    /// Whether the table has a header; keys above all tables need none.
    public var hasTable: Bool { table == nil || header != nil }

    /// Whether an empty line is put behind a new key, because a table follows that is a paragraph of its own.
    public var setsNewKeyApart: Bool { table == nil && pairs.isEmpty && firstHeader != nil }

    /// The text with a value, as TOML writes it, in place of a key's; a new key stands below all others.
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

    /// The text less a key's lines; nil if it hasn't the key.
    ///
    /// What was set apart goes with the empty line behind it. The table's header goes too if it was the only key, unless the table is
    /// kept, or more than the header stands in its line.
    public func removing(_ key: String, setApart isApart: Bool = false, keepingTable isKept: Bool = false) -> String? {
        guard let pair = pairs.first(where: { $0.names == [key] }) else { return nil }
        var end = endOfLine(from: pair.value.upperBound)
        let next = endOfLine(from: end)
        if isApart, bytes[end..<next].allSatisfy({ $0.isBlankOrReturn || $0 == UInt8(ascii: "\n") }) { end = next }
        var start = startOfLine(from: pair.start)
        if let header, let table, pairs.count == 1, !isKept {
            let place = startOfLine(header.line)
            // What stands behind the header, or between the two, is somebody's.
            let line = String(decoding: bytes[place..<start], as: UTF8.self)
            if endOfLine(from: place) == start, line.trimmed(of: " \t\r\n") == "[\(table)]" { start = place }
            // At the end, an empty line set the table apart from what is before it.
            if start == place, place > 0, end == bytes.count {
                let gap = startOfLine(from: place - 1)
                if bytes[gap..<place - 1].allSatisfy(\.isBlankOrReturn) { start = gap }
            }
        }
        return replacing(start..<end, with: "")
    }

    private func valueRange(of pair: KeyScanner.Pair) -> Range<Int> {
        var end = pair.value.upperBound
        while end > pair.value.lowerBound, bytes[end - 1].isBlankOrReturn { end -= 1 }
        return pair.value.lowerBound..<end
    }

    /// A table for the end of the text, with an empty line before it.
    private func newTable(_ table: String, _ line: String) -> String {
        let isEnded = bytes.isEmpty || bytes.last == UInt8(ascii: "\n")
        return (isEnded ? "" : lineEnd) + (bytes.isEmpty ? "" : lineEnd) + "[\(table)]\(lineEnd)\(line)\(lineEnd)"
    }

    private func startOfLine(from place: Int) -> Int {
        bytes[..<place].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    }

    /// Where a line begins, counted from 1.
    private func startOfLine(_ line: Int) -> Int {
        var place = 0
        for _ in 1..<line { place = endOfLine(from: place) }
        return place
    }

    /// Behind the last key, or the table's header; before the first table and its comment; else at the end.
    private var placeForNewKey: Int {
        if let last = pairs.last { return endOfLine(from: last.value.upperBound) }
        if let header { return endOfLine(from: startOfLine(header.line)) }
        guard let firstHeader else { return bytes.count }
        let rows = scanned.rows
        return rows[ScannedText.start(of: firstHeader - 1, in: rows)].startIndex
    }

    private func endOfLine(from place: Int) -> Int {
        bytes[place...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.count
    }

    private func replacing(_ range: Range<Int>, with new: String) -> String {
        scanned.text(bytes[..<range.lowerBound] + Array(new.utf8) + bytes[range.upperBound...])
    }

    private var lineEnd: String { scanned.lineEnd }
}
