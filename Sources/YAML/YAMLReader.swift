/// Parses YAML (1.2) by recursive descent, in a single pass.
struct YAMLReader {
    /// The maximum nesting of values.
    private static let deepest = 64
    /// The maximum number of values that are repeated.
    private static let most = 10_000

    private let bytes: [UInt8]
    private var place = 0
    private var depth = 0
    /// The row of `place`, and the position of its beginning.
    private var row = 0
    private var rowStart = 0
    /// The position after the last value.
    private var end = 0
    private var anchors: [String: YAMLNode] = [:]
    /// The number of values that aliases stand for: a short text could stand for billions.
    private var repeated = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func document() throws(YAMLError) -> YAMLNode {
        try requireText()
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { (place, rowStart) = (3, 3) }
        try skipToToken()
        guard !isMarker("."), next != UInt8(ascii: "%") else { throw YAMLError() }
        var indent = -1
        if isMarker("-") {
            place += 3
            // Behind the marker, only a scalar or braces may follow on its row.
            indent = isRestBlank ? -1 : 0
        }
        let node = try self.node(in: -1, isInline: indent == 0)
        try skipToToken()
        guard place == bytes.count || isMarker("-") || isMarker(".") else { throw YAMLError() }
        return node
    }

    /// Throws if there are characters that YAML doesn't have, or that only some readers take for the end of a line.
    private func requireText() throws(YAMLError) {
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case 0x0D where at(index + 1) != 0x0A, 0..<9, 0x0B, 0x0C, 0x0E..<0x20, 0x7F: throw YAMLError()
            case 0xC2 where (0x80..<0xA0).contains(at(index + 1) ?? 0): throw YAMLError()
            case 0xE2 where at(index + 1) == 0x80 && [0xA8, 0xA9].contains(at(index + 2)): throw YAMLError()
            case 0xEF where at(index + 1) == 0xBB && at(index + 2) == 0xBF && index > 0: throw YAMLError()
            default: break
            }
        }
    }

    // MARK: Places

    private func at(_ index: Int) -> UInt8? { index < bytes.count ? bytes[index] : nil }
    private var next: UInt8? { at(place) }
    private var column: Int { place - rowStart }
    private func isNext(_ scalar: Unicode.Scalar) -> Bool { next == UInt8(ascii: scalar) }

    /// Whether a blank, the end of the row or that of the text is at a position.
    private func isGap(_ index: Int) -> Bool { at(index).map { " \t\r\n".utf8.contains($0) } ?? true }

    /// Whether `---` or `...` is here, which separate documents.
    private func isMarker(_ scalar: Unicode.Scalar) -> Bool {
        column == 0 && (0..<3).allSatisfy { at(place + $0) == UInt8(ascii: scalar) } && isGap(place + 3)
    }

    private var isEndOfDocument: Bool { place == bytes.count || isMarker("-") || isMarker(".") }

    /// Whether nothing but blanks and a comment follow on this row.
    private var isRestBlank: Bool {
        var index = place
        while let byte = at(index), byte == 0x20 || byte == 0x09 { index += 1 }
        guard let byte = at(index) else { return true }
        return byte == 0x0A || byte == 0x0D || byte == UInt8(ascii: "#") && (index == rowStart || isGap(index - 1))
    }

    /// Whether only blanks are before this on its row.
    private var isFirst: Bool { bytes[rowStart..<place].allSatisfy { $0 == 0x20 } }

    private mutating func skipBlanks() {
        while next == 0x20 || next == 0x09 { place += 1 }
    }

    /// Goes to the beginning of the next row; false if this is the last one.
    private mutating func skipRow() -> Bool {
        guard let end = bytes[place...].firstIndex(of: 0x0A) else {
            place = bytes.count
            return false
        }
        (place, rowStart, row) = (end + 1, end + 1, row + 1)
        return true
    }

    /// Goes to what follows blanks, comments and ends of rows.
    private mutating func skipToToken() throws(YAMLError) {
        repeat {
            let isIndent = flowDepth == 0 && (isFirst || bytes[place - 1] == UInt8(ascii: "-"))
            while next == 0x20 { place += 1 }
            // Nobody knows how deep a tab indents.
            guard !isIndent || next != 0x09 else { throw YAMLError() }
            skipBlanks()
        } while isRestBlank && skipRow()
    }

    private var flowDepth = 0

    // MARK: Blocks

    /// Parses the value of something in a column; empty text if there is none.
    ///
    /// It may follow a key on its row (`isInline`), or be that of a key, in whose column the hyphens of a list may stand (`isOfKey`).
    private mutating func node(
        in indent: Int, isInline: Bool, isOfKey: Bool = false
    ) throws(YAMLError) -> YAMLNode {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else { throw YAMLError() }
        let first = row
        var isInline = isInline
        var properties = Properties()
        while true {
            if isRestBlank { isInline = false }
            let (before, beforeRow, beforeStart) = (place, row, rowStart)
            try skipToToken()
            let isHere =
                !isEndOfDocument && (row == first || column > indent || isOfKey && column == indent && isHyphen)
            guard isHere else {
                // The next value may begin here.
                (place, row, rowStart) = (before, beforeRow, beforeStart)
                return keep(.text(""), properties)
            }
            guard let property = try self.property() else { break }
            // It would be the key's, and not the map's.
            if !isRestBlank, !isInline { properties.isBesideKey = true }
            try properties.add(property)
            end = place
        }
        return keep(try value(in: indent, isInline: isInline, properties), properties)
    }

    private mutating func value(
        in indent: Int, isInline: Bool, _ properties: Properties
    ) throws(YAMLError) -> YAMLNode {
        switch next {
        case UInt8(ascii: "|"), UInt8(ascii: ">"): return .text(try blockScalar(in: indent))
        case UInt8(ascii: "-") where isHyphen:
            guard !isInline, !properties.isBesideKey else { throw YAMLError() }
            return try list()
        case UInt8(ascii: "?") where isGap(place + 1): throw YAMLError()
        default: break
        }
        let start = (place, row, rowStart)
        let isText = !"[{*".utf8.contains(next ?? 0)
        if isText {
            _ = try scalar(in: indent, isKey: true)
            skipBlanks()
            let isKey = row == start.1 && isNext(":") && isGap(place + 1)
            (place, row, rowStart) = start
            guard !isKey || !isInline && !properties.isBesideKey else { throw YAMLError() }
            if isKey { return try map() }
        }
        let node = isText ? YAMLNode.text(try scalar(in: indent)) : try flow(in: indent)
        end = place
        guard isRestBlank else { throw YAMLError() }
        return node
    }

    private var isHyphen: Bool { isNext("-") && isGap(place + 1) }

    private mutating func list() throws(YAMLError) -> YAMLNode {
        let column = column
        var nodes: [YAMLNode] = []
        repeat {
            place += 1
            end = place
            nodes.append(try node(in: column, isInline: false))
            try skipToToken()
        } while !isEndOfDocument && self.column == column && isHyphen && isFirst
        guard isEndOfDocument || self.column <= column else { throw YAMLError() }
        return .list(nodes)
    }

    private mutating func map() throws(YAMLError) -> YAMLNode {
        let column = column
        var entries: [YAMLEntry] = []
        repeat {
            let (first, isFirst) = (row, isFirst)
            guard !isHyphen, !(isNext("?") && isGap(place + 1)), !"[{*&!|>".utf8.contains(next ?? 0) else {
                throw YAMLError()
            }
            let name = try scalar(in: column, isKey: true)
            skipBlanks()
            guard row == first, isNext(":"), isGap(place + 1) else { throw YAMLError() }
            place += 1
            end = place
            let value = try node(in: column, isInline: true, isOfKey: true)
            let last = rowOfEnd(from: first)
            entries.append(YAMLEntry(name: name, value: value, rows: isFirst ? first..<last + 1 : nil))
            try skipToToken()
        } while !isEndOfDocument && self.column == column
        guard isEndOfDocument || self.column < column else { throw YAMLError() }
        return try unique(entries)
    }

    private func unique(_ entries: [YAMLEntry]) throws(YAMLError) -> YAMLNode {
        guard Set(entries.map(\.name)).count == entries.count else { throw YAMLError() }
        return .map(entries)
    }

    /// Returns the row in which the last value ended, at the earliest a given one.
    private func rowOfEnd(from first: Int) -> Int {
        guard end > rowStart else { return row - bytes[end..<rowStart].count { $0 == 0x0A } }
        return max(first, row)
    }

    // MARK: Anchors and tags

    /// What stands before a value.
    private struct Properties {
        var anchor: String?
        var tag: String?
        var isBesideKey = false

        mutating func add(_ word: String) throws(YAMLError) {
            let isAnchor = word.hasPrefix("&")
            guard (isAnchor ? anchor : tag) == nil else { throw YAMLError() }
            if isAnchor { anchor = String(word.dropFirst()) } else { tag = word }
        }
    }

    /// Parses an anchor or a tag; nil if there is none.
    private mutating func property() throws(YAMLError) -> String? {
        guard isNext("&") || isNext("!") else { return nil }
        let word = word()
        guard word.utf8.count > 1 || word == "!", isGap(place) else { throw YAMLError() }
        return word
    }

    private mutating func word() -> String {
        let start = place
        while !isGap(place), !(flowDepth > 0 && ",[]{}".utf8.contains(bytes[place])) { place += 1 }
        return String(decoding: bytes[start..<place], as: UTF8.self)
    }

    private mutating func keep(_ node: YAMLNode, _ properties: Properties) -> YAMLNode {
        // glab writes its tokens with the tag of null. compose's tags say how files are merged.
        let isPlain = [nil, "!", "!!str", "!!null", "!!map", "!!seq", "!override"].contains(properties.tag)
        let node = isPlain ? node : .other
        if let anchor = properties.anchor { anchors[anchor] = node }
        return node
    }

    // MARK: Braces and brackets

    /// Parses a value in braces or brackets, or the name of an anchor.
    private mutating func flow(in indent: Int) throws(YAMLError) -> YAMLNode {
        if isNext("*") {
            guard let node = anchors[String(word().dropFirst())] else { throw YAMLError() }
            repeated += node.size
            guard repeated <= Self.most else { throw YAMLError() }
            return node
        }
        flowDepth += 1
        defer { flowDepth -= 1 }
        guard depth + flowDepth <= Self.deepest else { throw YAMLError() }
        let isMap = isNext("{")
        let close: Unicode.Scalar = isMap ? "}" : "]"
        place += 1
        var (nodes, entries): ([YAMLNode], [YAMLEntry]) = ([], [])
        try skipInFlow()
        while !isNext(close) {
            if isMap { entries.append(try pair(in: indent)) } else { nodes.append(try element(in: indent)) }
            try skipInFlow()
            guard isNext(",") else { break }
            place += 1
            try skipInFlow()
        }
        guard isNext(close) else { throw YAMLError() }
        place += 1
        return isMap ? try unique(entries) : .list(nodes)
    }

    private mutating func skipInFlow() throws(YAMLError) {
        try skipToToken()
        guard !isEndOfDocument else { throw YAMLError() }
    }

    private mutating func pair(in indent: Int) throws(YAMLError) -> YAMLEntry {
        guard !"[{*&!?".utf8.contains(next ?? 0) || isNext("?") && !isGap(place + 1) else { throw YAMLError() }
        let (first, isQuoted) = (row, isNext("\"") || isNext("'"))
        let name = try scalar(in: indent, isKey: true)
        guard row == first else { throw YAMLError() }
        skipBlanks()
        guard isNext(":"), isQuoted || isGap(place + 1) else {
            return YAMLEntry(name: name, value: .text(""))
        }
        place += 1
        try skipInFlow()
        let isEmpty = isNext(",") || isNext("}")
        return YAMLEntry(name: name, value: isEmpty ? .text("") : try element(in: indent))
    }

    private func isFlowSign(_ index: Int) -> Bool { at(index).map { ",[]{}".utf8.contains($0) } ?? false }

    private mutating func element(in indent: Int) throws(YAMLError) -> YAMLNode {
        var properties = Properties()
        while let property = try property() {
            try properties.add(property)
            try skipInFlow()
        }
        let node = "[{*".utf8.contains(next ?? 0) ? try flow(in: indent) : .text(try scalar(in: indent))
        skipBlanks()
        guard !isNext(":") else { throw YAMLError() }
        return keep(node, properties)
    }

    // MARK: Scalars

    /// Parses a scalar that isn't a block; a key is on one row, and ends with its colon.
    private mutating func scalar(in indent: Int, isKey: Bool = false) throws(YAMLError) -> String {
        if isNext("\"") || isNext("'") { return try quoted(UInt8(ascii: isNext("'") ? "'" : "\"")) }
        return try plain(in: indent, isKey: isKey)
    }

    private mutating func plain(in indent: Int, isKey: Bool) throws(YAMLError) -> String {
        let isSign = "-?:".utf8.contains(next ?? 0)
        guard let first = next, !",[]{}#&*!|>'\"%@`".utf8.contains(first), !isSign || !isGap(place + 1),
            !isSign || flowDepth == 0 || isNext("-") && !isFlowSign(place + 1)
        else { throw YAMLError() }
        var text = try plainRow()
        while !isKey {
            let last = (place, row, rowStart)
            var breaks = 0
            skipBlanks()
            while next == 0x0A || next == 0x0D, skipRow() {
                breaks += 1
                while next == 0x20 { place += 1 }
                guard next != 0x09 else { throw YAMLError() }
            }
            let isOver = isEndOfDocument || isNext("#") || column <= indent && flowDepth == 0
            guard breaks > 0, !isOver, !(flowDepth > 0 && (isFlowSign(place) || isColon(place))) else {
                (place, row, rowStart) = last
                break
            }
            text += (breaks == 1 ? " " : String(repeating: "\n", count: breaks - 1)) + (try plainRow())
            // A key must be on one row.
            guard flowDepth > 0 || !isColon(place) else { throw YAMLError() }
        }
        return ["~", "null", "Null", "NULL"].contains(text) && !isKey ? "" : text
    }

    /// Whether a colon that ends a key is at a position.
    private func isColon(_ index: Int) -> Bool {
        at(index) == UInt8(ascii: ":") && isGap(index + 1)
    }

    /// Parses the rest of a row up to the end of a plain scalar, and stops behind the last byte that isn't blank.
    private mutating func plainRow() throws(YAMLError) -> String {
        let start = place
        var last = place
        while let byte = next, byte != 0x0A, byte != 0x0D {
            if isNext(":"), flowDepth > 0, isFlowSign(place + 1) || at(place + 1) == UInt8(ascii: "?") {
                throw YAMLError()
            }
            if isColon(place) || flowDepth > 0 && isFlowSign(place) { break }
            if byte == UInt8(ascii: "#"), place > start, isGap(place - 1) { break }
            place += 1
            if byte != 0x20, byte != 0x09 { last = place }
        }
        place = last
        return String(decoding: bytes[start..<last], as: UTF8.self)
    }

    private mutating func quoted(_ quote: UInt8) throws(YAMLError) -> String {
        place += 1
        var text: [UInt8] = []
        // Blanks at the end of a row are dropped, but not escaped ones.
        var kept = 0
        while let byte = next {
            if byte == quote {
                place += 1
                guard quote == UInt8(ascii: "'"), next == quote else {
                    guard let text = String(validating: text, as: UTF8.self) else { throw YAMLError() }
                    return text
                }
                text.append(quote)
                place += 1
                kept = text.count
            } else if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
                place += 1
                if next == 0x0A || next == 0x0D {
                    try fold(&text, kept: text.count, isJoined: true)
                } else {
                    text += try escaped()
                }
                kept = text.count
            } else if byte == 0x0A || byte == 0x0D {
                try fold(&text, kept: kept, isJoined: false)
                kept = text.count
            } else {
                text.append(byte)
                place += 1
                if byte != 0x20, byte != 0x09 { kept = text.count }
            }
        }
        throw YAMLError()
    }

    /// Goes to the next row of a quoted scalar, and adds what the end of this one stands for.
    private mutating func fold(_ text: inout [UInt8], kept: Int, isJoined: Bool) throws(YAMLError) {
        text.removeLast(text.count - kept)
        var breaks = 0
        repeat {
            guard skipRow(), !isEndOfDocument else { throw YAMLError() }
            breaks += 1
            skipBlanks()
        } while next == 0x0A || next == 0x0D
        if breaks == 1, !isJoined { text.append(0x20) }
        text += [UInt8](repeating: 0x0A, count: breaks - 1)
    }

    private mutating func escaped() throws(YAMLError) -> [UInt8] {
        guard let sign = next else { throw YAMLError() }
        place += 1
        let plain: [UInt8: UInt32] = [
            0x30: 0, 0x61: 7, 0x62: 8, 0x74: 9, 0x09: 9, 0x6E: 10, 0x76: 11, 0x66: 12, 0x72: 13, 0x65: 27, 0x20: 32,
            0x22: 34,
            0x2F: 47, 0x5C: 92, 0x4E: 0x85, 0x5F: 0xA0, 0x4C: 0x2028, 0x50: 0x2029,
        ]
        let digits = [UInt8(ascii: "x"): 2, UInt8(ascii: "u"): 4, UInt8(ascii: "U"): 8]
        var code = plain[sign]
        if let count = digits[sign], place + count <= bytes.count {
            let text = String(decoding: bytes[place..<place + count], as: UTF8.self)
            code =
                text.utf8.allSatisfy { $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }
                ? UInt32(text, radix: 16) : nil
            place += count
        }
        guard let code, let scalar = Unicode.Scalar(code) else { throw YAMLError() }
        return Array(String(Character(scalar)).utf8)
    }

    private mutating func blockScalar(in parent: Int) throws(YAMLError) -> String {
        let isFolded = isNext(">")
        place += 1
        var (chomping, indent): (UInt8?, Int?) = (nil, nil)
        while let byte = next, !isGap(place) {
            if chomping == nil, byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") {
                chomping = byte
            } else if indent == nil, (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(byte) {
                indent = max(parent, 0) + Int(byte - UInt8(ascii: "0"))
            } else {
                throw YAMLError()
            }
            place += 1
        }
        guard isRestBlank else { throw YAMLError() }
        end = place
        var rows: [[UInt8]] = []
        var widest = 0
        while skipRow() {
            guard place < bytes.count, !isEndOfDocument else { break }
            let content = bytes[place...].prefix { $0 != 0x0A }
            let row = content.last == 0x0D ? content.dropLast() : content
            let blanks = row.prefix { $0 == 0x20 }.count
            if blanks == row.count, indent.map({ blanks <= $0 }) ?? true {
                widest = max(widest, blanks)
                if content.endIndex < bytes.count { rows.append([]) }
                continue
            }
            let least = indent ?? max(blanks, parent + 1, 1)
            guard blanks >= least else { break }
            // Blank rows that reach further in than the first would be read differently.
            guard indent != nil || widest <= least && row.dropFirst(blanks).first != 0x09 else { throw YAMLError() }
            indent = least
            rows.append(Array(row.dropFirst(least)))
            end = content.endIndex
        }
        let isEnded = rows.isEmpty || end < bytes.count
        return Self.text(rows, isFolded: isFolded, isEnded ? chomping : UInt8(ascii: "-"))
    }

    /// Returns the text in the rows of a block scalar.
    private static func text(_ rows: [[UInt8]], isFolded: Bool, _ chomping: UInt8?) -> String {
        let count = (rows.lastIndex { !$0.isEmpty } ?? -1) + 1
        var text: [UInt8] = []
        var breaks = 0
        var wasPlain = false
        for row in rows[..<count] {
            guard !row.isEmpty else {
                breaks += 1
                continue
            }
            let isPlain = row[0] != 0x20 && row[0] != 0x09
            if isFolded, wasPlain, isPlain, breaks == 1 {
                text.append(0x20)
            } else {
                text += [UInt8](repeating: 0x0A, count: isFolded && wasPlain && isPlain ? breaks - 1 : breaks)
            }
            text += row
            (breaks, wasPlain) = (1, isPlain)
        }
        if chomping != UInt8(ascii: "-"), count > 0 { text.append(0x0A) }
        if chomping == UInt8(ascii: "+") { text += [UInt8](repeating: 0x0A, count: rows.count - count) }
        return String(decoding: text, as: UTF8.self)
    }
}

/// The error for what isn't YAML, or uses more of it than is read.
struct YAMLError: Error {}
