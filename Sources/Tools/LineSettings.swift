import Addresses

/// Settings on one line each in a tool's file, for edits that leave everything else unchanged, byte for byte.
///
/// pip and the AWS tools write `[section]` and `key = value`, Go and npm only `key=value`. In a text with sections,
/// indented lines belong to the key above.
package struct LineSettings {
    private let rows: [Substring]
    /// The name of the section; nil in texts without sections.
    private let section: String?
    /// The rows of the section; nil if there is none.
    private let body: Range<Int>?

    package init(_ text: String, section: String?) {
        let rows = text.pieces(between: "\n", omittingEmpty: false)
        self.rows = rows
        self.section = section
        guard let section else {
            body = 0..<rows.count
            return
        }
        body = rows.firstIndex { $0.section == section }.map { header in
            let next = rows[(header + 1)...].firstIndex { $0.section != nil }
            return header + 1..<(next ?? rows.count)
        }
    }

    /// The number, from 1, of the first line that isn't a comment, a section or a setting within a section; nil if
    /// there is none.
    var firstFault: Int? {
        var (isInSection, isInSetting) = (false, false)
        for (index, row) in rows.enumerated() where !row.isBlank && !row.isComment {
            if row.isIndented, isInSetting { continue }
            if row.section != nil {
                (isInSection, isInSetting) = (true, false)
            } else if isInSection, row.utf8.contains(where: isSeparator) {
                isInSetting = true
            } else {
                return index + 1
            }
        }
        return nil
    }

    /// Returns a key's value as written, including continuation lines; nil if there is none.
    package func value(of key: String) -> String? {
        guard let place = place(of: key) else { return nil }
        let first = rows[place.lowerBound].utf8.dropFirst(prefix(of: rows[place.lowerBound]).utf8.count)
        let value = ([Substring(first)] + rows[place].dropFirst()).joined(separator: "\n")
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
    package var sections: [String] { rows.compactMap(\.section) }

    /// The names of the section's keys as written, in their order.
    var keys: [String] {
        (body.map { Array(rows[$0]) } ?? []).compactMap { row in
            guard name(in: row) != nil, let end = row.utf8.firstIndex(where: isSeparator) else { return nil }
            return String(row[..<end].trimmed())
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
        guard let body, let first = rows[body].lastIndex(where: { name(in: $0) == normal(key) }) else { return nil }
        var end = first + 1
        while section != nil, end < body.upperBound, rows[end].isIndented { end += 1 }
        return first..<end
    }

    /// Returns the key that a row sets; nil if it sets none.
    private func name(in row: Substring) -> String? {
        guard let first = row.utf8.first, !row.isIndented, first != UInt8(ascii: "#"), first != UInt8(ascii: ";"),
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
    fileprivate var isIndented: Bool { utf8.first?.isBlank == true && !isBlank }

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
