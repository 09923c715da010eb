import Addresses

/// Settings on one line each in a tool's file, for edits that leave everything else unchanged, byte for byte.
///
/// pip and the AWS tools write `[section]` and `key = value`, as Python's configparser reads them, Go and npm only
/// `key=value`.
package struct LineSettings {
    private let rows: [Substring]
    /// Whether each row goes on with the value of a key above it: in a section, one that is indented more than the key.
    private let isContinued: [Bool]
    /// The name of the section; nil in texts without sections.
    private let section: String?
    /// The rows of the section; nil if there is none.
    private let body: Range<Int>?

    package init(_ text: String, section: String?) {
        let rows = text.pieces(between: "\n", omittingEmpty: false)
        let isContinued = Self.continuations(among: rows)
        (self.rows, self.isContinued) = (rows, isContinued)
        self.section = section
        guard let section else {
            body = 0..<rows.count
            return
        }
        let headers = rows.indices.filter { !isContinued[$0] && rows[$0].section != nil }
        body = headers.firstIndex { rows[$0].section == section }.map { number in
            headers[number] + 1..<(headers.dropFirst(number + 1).first ?? rows.count)
        }
    }

    private static func continuations(among rows: [Substring]) -> [Bool] {
        // The indentation of the last key; nil before the first one of a section.
        var key: Int?
        var isInSection = false
        return rows.map { row in
            guard !row.isBlank, !row.isComment else { return false }
            if let key, row.indentation > key { return true }
            let isHeader = row.section != nil
            isInSection = isInSection || isHeader
            key = isInSection && !isHeader ? row.indentation : nil
            return false
        }
    }

    /// The number, from 1, of the first line that isn't a comment, a section or a setting within a section; nil if
    /// there is none.
    var firstFault: Int? {
        var isInSection = false
        for (index, row) in rows.enumerated() where !row.isBlank && !row.isComment && !isContinued[index] {
            if row.section != nil {
                isInSection = true
            } else if !isInSection || !row.utf8.contains(where: isSeparator) {
                return index + 1
            }
        }
        return nil
    }

    /// Returns a key's value as written, including continuation lines; nil if there is none.
    package func value(of key: String) -> String? {
        guard let place = place(of: key) else { return nil }
        let first = rows[place.lowerBound].utf8.dropFirst(prefix(of: rows[place.lowerBound]).utf8.count)
        let further = place.dropFirst().filter { !rows[$0].isComment }.map { rows[$0] }
        let value = ([Substring(first)] + further).joined(separator: "\n")
        return value.utf8.last == Self.carriageReturn ? String(Substring(value.utf8.dropLast())) : value
    }

    /// Returns the text with a key's value replaced; a new key is added at the end of its section, a new section at the
    /// end of the text.
    func setting(_ key: String, to value: String) -> String {
        if let place = place(of: key) {
            let end = rows[place.upperBound - 1].utf8.last == Self.carriageReturn ? "\r" : ""
            return replacing(place, with: [prefix(of: rows[place.lowerBound]) + value + end])
        }
        let line = (section == nil ? "\(key)=\(value)" : "\(key) = \(value)") + rowEnd
        guard let body else {
            let isEmpty = rows.allSatisfy(\.isEmpty)
            let end = rows.last?.isEmpty == true ? rows.count - 1 : rows.count
            let header = "[\(section ?? "")]" + rowEnd
            return replacing(end..<rows.count, with: (isEmpty ? [] : [rowEnd]) + [header, line, ""])
        }
        let last = rows[body].lastIndex { !$0.isBlank }.map { $0 + 1 } ?? body.lowerBound
        return replacing(last..<last, with: last == rows.count ? [line, ""] : [line])
    }

    /// The names of the sections as written.
    package var sections: [String] { rows.indices.compactMap { isContinued[$0] ? nil : rows[$0].section } }

    /// The names of the section's keys as written, in their order.
    var keys: [String] {
        (body ?? 0..<0).compactMap { index in
            guard name(in: index) != nil, let end = rows[index].utf8.firstIndex(where: isSeparator) else { return nil }
            return String(rows[index][..<end].trimmed())
        }
    }

    /// Whether the text has the section; texts without sections need none.
    var hasSection: Bool { body != nil }

    /// Returns the text without a key; also without its section if nothing else is in it or behind its header, unless
    /// it is to be kept.
    func removing(_ key: String, keepingSection isKept: Bool = false) -> String {
        guard let place = place(of: key), let body else { return rows.joined(separator: "\n") }
        let isAlone = rows[body].indices.allSatisfy { place.contains($0) || rows[$0].isBlank }
        guard !isKept, isAlone, let section, rows[body.lowerBound - 1].trimmed(of: " \t\r") == "[\(section)]" else {
            return replacing(place, with: [])
        }
        let header = body.lowerBound - 1
        let isLast = body.upperBound == rows.count
        // `setting` adds an empty row only after something else.
        let isApart = header > 0 && rows[header - 1].isBlank && !rows[..<header].allSatisfy(\.isEmpty)
        let start = isLast && isApart ? header - 1 : header
        return replacing(start..<place.upperBound, with: [])
    }

    private static let carriageReturn = UInt8(ascii: "\r")

    /// The end of the text's rows before the line feed: a carriage return, or nothing.
    private var rowEnd: String { rows.count > 1 && rows[0].utf8.last == Self.carriageReturn ? "\r" : "" }

    private func place(of key: String) -> Range<Int>? {
        guard let body, let first = body.last(where: { name(in: $0) == normal(key) }) else { return nil }
        let next = rows[first + 1..<body.upperBound].indices.first { name(in: $0) != nil } ?? body.upperBound
        return first..<(isContinued[first..<next].lastIndex(of: true) ?? first) + 1
    }

    /// Returns the key that a row sets; nil if it sets none.
    private func name(in index: Int) -> String? {
        let row = rows[index]
        // Only a text with sections may be indented.
        guard !isContinued[index], !row.isComment, section != nil || row.indentation == 0,
            let end = row.utf8.firstIndex(where: isSeparator)
        else { return nil }
        return normal(String(row[..<end].trimmed()))
    }

    /// Returns a key's normal form; programs with sections ignore case, and treat hyphens and underscores alike.
    private func normal(_ key: String) -> String {
        section == nil ? key : key.lowercased().replacing(bytes: "_", with: "-")
    }

    private func isSeparator(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "=") || section != nil && byte == UInt8(ascii: ":")
    }

    /// Returns the part of a row before its value.
    private func prefix(of row: Substring) -> String {
        guard let end = row.utf8.firstIndex(where: isSeparator) else { return String(row) }
        let value = row.utf8[row.utf8.index(after: end)...].firstIndex { !$0.isBlank } ?? row.utf8.endIndex
        return String(row[..<value])
    }

    private func replacing(_ range: Range<Int>, with new: [String]) -> String {
        var before = rows[..<range.lowerBound]
        // Ends the row before if it had no end.
        if let last = before.last, range.lowerBound == rows.count, !new.isEmpty {
            before[before.endIndex - 1] = last + rowEnd
        }
        return (before + new.map { $0[...] } + rows[range.upperBound...]).joined(separator: "\n")
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}

extension Substring {
    var isBlank: Bool { utf8.allSatisfy { $0.isBlank || $0 == UInt8(ascii: "\r") } }
    fileprivate var indentation: Int { utf8.prefix(while: \.isBlank).count }

    fileprivate var isComment: Bool {
        let row = trimmed(of: " \t")
        return row.utf8.first == UInt8(ascii: "#") || row.utf8.first == UInt8(ascii: ";")
    }

    /// The name in `[name]`, whatever follows it; nil if it isn't such a row.
    fileprivate var section: String? {
        let row = trimmed(of: " \t\r").utf8
        guard row.first == UInt8(ascii: "["), let end = row.lastIndex(of: UInt8(ascii: "]")) else { return nil }
        return String(Substring(row[row.index(after: row.startIndex)..<end]))
    }
}
