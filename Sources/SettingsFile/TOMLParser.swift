import Addresses
import Secrets
import Terminal

/// Reads TOML 1.0 in one pass, and notes where everything stands.
///
/// Unlike TOML, it refuses escaped NULs, which no setting needs and which C cuts texts at, and what nests deeper than 64
/// levels.
struct TOMLParser {
    private static let deepest = 64

    private(set) var tables = [TOMLTable(kind: .defined, line: nil)]
    private(set) var headers: [TOMLDocument.Header] = []
    private(set) var pairs: [TOMLDocument.Pair] = []
    private(set) var comments: [TOMLDocument.Comment] = []
    private let bytes: [UInt8]
    private let file: String
    private var index = 0
    private var line = 1
    private var depth = 0

    /// Creates a parser of a text without a byte order mark.
    init(_ bytes: [UInt8], file: String) {
        self.bytes = bytes
        self.file = file
    }

    /// Reads everything.
    ///
    /// - Throws: `SettingsError` with the first line that isn't valid.
    mutating func parse() throws(SettingsError) {
        if let nul = bytes.firstIndex(of: 0) {
            line += bytes[..<nul].count { $0 == UInt8(ascii: "\n") }
            throw error("a NUL character")
        }
        var table = 0
        while try nextContent() != 0 {
            if byte == UInt8(ascii: "[") {
                table = try header()
            } else {
                try pair(in: table)
                if let last = headers.indices.last { headers[last].lastLine = line }
            }
            skipBlanks()
            if byte == UInt8(ascii: "#") { try comment() }
            guard byte == 0 || skipLineEnd() else { throw error("something follows on the line") }
        }
    }
}

// MARK: - Tables and keys

extension TOMLParser {
    /// Reads `[a.b]` or `[[a.b]]`, and returns the table that it opens.
    private mutating func header() throws(SettingsError) -> Int {
        let start = line
        advance()
        let isElement = byte == UInt8(ascii: "[")
        if isElement { advance() }
        let names = try key()
        for _ in 0..<(isElement ? 2 : 1) {
            guard byte == UInt8(ascii: "]") else { throw error("a table's name needs a closing bracket") }
            advance()
        }
        headers.append(TOMLDocument.Header(names: names, isElement: isElement, line: start, lastLine: start))
        var table = 0
        for name in names.dropLast() { table = try open(name, in: table) }
        guard let name = names.last else { return table }
        switch (tables[table].entries[name]?.value, isElement) {
        case (nil, false): return add(.defined, name, to: table, at: start)
        case (nil, true):
            let element = new(.defined, at: start)
            tables[table].entries[name] = TOMLEntry(line: start, value: .tables([element]))
            return element
        case (.tables(var elements)?, true):
            let element = new(.defined, at: start)
            let first = tables[table].entries.removeValue(forKey: name)?.line ?? start
            elements.append(element)
            tables[table].entries[name] = TOMLEntry(line: first, value: .tables(elements))
            return element
        case (.table(let inner)?, false) where tables[inner].kind == .implied:
            tables[inner].kind = .defined
            tables[inner].line = start
            return inner
        default: throw twice(name, at: start)
        }
    }

    /// Returns the table that a header's next part is in.
    private mutating func open(_ name: String, in table: Int) throws(SettingsError) -> Int {
        switch tables[table].entries[name]?.value {
        case nil: return add(.implied, name, to: table, at: line)
        case .table(let inner)? where tables[inner].kind != .inline: return inner
        case .tables(let elements)?: return elements.last ?? table
        default: throw twice(name, at: line)
        }
    }

    /// Reads `a.b = value`.
    private mutating func pair(in table: Int) throws(SettingsError) {
        let (start, startLine) = (index, line)
        let names = try key()
        guard byte == UInt8(ascii: "=") else { throw error("a key needs `=` and a value") }
        advance()
        skipBlanks()
        let valueStart = index
        let value = try value()
        if depth == 0 {
            pairs.append(
                TOMLDocument.Pair(
                    header: headers.indices.last, names: names, start: start, value: valueStart..<index))
        }
        var table = table
        for name in names.dropLast() {
            switch tables[table].entries[name]?.value {
            case nil: table = add(.dotted, name, to: table, at: startLine)
            case .table(let inner)? where tables[inner].kind == .dotted || tables[inner].kind == .implied:
                tables[inner].kind = .dotted
                table = inner
            default: throw twice(name, at: startLine)
            }
        }
        guard let name = names.last, tables[table].entries[name] == nil else {
            throw twice(names.last ?? "", at: startLine)
        }
        tables[table].entries[name] = TOMLEntry(line: startLine, value: value)
    }

    /// Reads the names of a dotted key, and the blanks after it.
    private mutating func key() throws(SettingsError) -> [String] {
        var names: [String] = []
        while true {
            skipBlanks()
            names.append(try name())
            guard names.count <= Self.deepest else { throw error("a key has too many parts") }
            skipBlanks()
            guard byte == UInt8(ascii: ".") else { return names }
            advance()
        }
    }

    private mutating func name() throws(SettingsError) -> String {
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") { return try string(isKey: true) }
        let start = index
        // A key without quotes is made of what labels are.
        while byte.isLabelByte { advance() }
        guard start < index else { throw error("a key is missing") }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private mutating func new(_ kind: TOMLTable.Kind, at line: Int) -> Int {
        tables.append(TOMLTable(kind: kind, line: line))
        return tables.count - 1
    }

    private mutating func add(_ kind: TOMLTable.Kind, _ name: String, to table: Int, at line: Int) -> Int {
        let inner = new(kind, at: line)
        tables[table].entries[name] = TOMLEntry(line: line, value: .table(inner))
        return inner
    }
}

// MARK: - Values

extension TOMLParser {
    private static let endsOfWords = Array(" \t\r\n,]}#\0".utf8)

    private mutating func value() throws(SettingsError) -> TOMLValue {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else { throw error("arrays and tables nest too deeply") }
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try string(isKey: false))
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "{"): return try inlineTable()
        default: return try word()
        }
    }

    private mutating func array() throws(SettingsError) -> TOMLValue {
        var elements: [TOMLEntry] = []
        repeat {
            advance()
            guard try nextContent() != UInt8(ascii: "]") else { break }
            let line = line
            elements.append(TOMLEntry(line: line, value: try value()))
        } while try nextContent() == UInt8(ascii: ",")
        guard byte == UInt8(ascii: "]") else {
            throw error("an array needs a comma between values, and `]` at its end")
        }
        advance()
        return .array(elements)
    }

    private mutating func inlineTable() throws(SettingsError) -> TOMLValue {
        let table = new(.inline, at: line)
        advance()
        skipBlanks()
        if byte != UInt8(ascii: "}") {
            try pair(in: table)
            skipBlanks()
            while byte == UInt8(ascii: ",") {
                advance()
                skipBlanks()
                try pair(in: table)
                skipBlanks()
            }
        }
        guard byte == UInt8(ascii: "}") else { throw error("a table in braces needs `}` at its end, on the same line") }
        advance()
        return .table(table)
    }

    /// Reads a number, a boolean, or a date, whose time may follow after a space.
    private mutating func word() throws(SettingsError) -> TOMLValue {
        let start = index
        while !Self.endsOfWords.contains(byte) { advance() }
        if index - start == 10, byte == UInt8(ascii: " "), TOMLWord(bytes[start..<index]).isMoment,
            byte(after: 1).isDigit
        {
            advance()
            while !Self.endsOfWords.contains(byte) { advance() }
        }
        guard start < index else { throw error("a value is missing") }
        guard let value = TOMLWord(bytes[start..<index]).value else {
            throw error("not a value; a text needs quotes")
        }
        return value
    }

    /// Reads a string of any of the four kinds; a key's is on one line.
    private mutating func string(isKey: Bool) throws(SettingsError) -> String {
        let quote = byte
        let isLong = !isKey && byte(after: 1) == quote && byte(after: 2) == quote
        for _ in 0..<(isLong ? 3 : 1) { advance() }
        if isLong { _ = skipLineEnd() }
        var text: [UInt8] = []
        while true {
            switch byte {
            case quote:
                var count = 0
                // A string in triple quotes may end with up to two more quotes.
                while byte == quote, count < (isLong ? 5 : 1) {
                    advance()
                    count += 1
                }
                let isEnd = !isLong || count >= 3
                text += repeatElement(quote, count: isLong ? (isEnd ? count - 3 : count) : 0)
                if isEnd { return String(decoding: text, as: UTF8.self) }
            case UInt8(ascii: "\\") where quote == UInt8(ascii: "\""): try escape(into: &text, isLong: isLong)
            case 0: throw error("a string has no closing quote")
            case UInt8(ascii: "\n") where !isLong: throw error("a string has no closing quote")
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                guard isLong, skipLineEnd() else { throw error("a carriage return in a string") }
                text.append(UInt8(ascii: "\n"))
            case let other:
                guard other.mayStandInTOML else { throw error("a control character in a string") }
                text.append(other)
                advance()
            }
        }
    }

    private mutating func escape(into text: inout [UInt8], isLong: Bool) throws(SettingsError) {
        advance()
        if isLong {
            // A backslash at the end of a line removes the line's end and the blanks that follow.
            let (start, startLine) = (index, line)
            skipBlanks()
            if skipLineEnd() {
                repeat { skipBlanks() } while skipLineEnd()
                return
            }
            (index, line) = (start, startLine)
        }
        let letter = byte
        advance()
        switch letter {
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): text.append(letter)
        case UInt8(ascii: "u"), UInt8(ascii: "U"):
            let digits = bytes[index...].prefix(letter == UInt8(ascii: "u") ? 4 : 8)
            guard digits.allSatisfy(\.isHexadecimal), digits.count == (letter == UInt8(ascii: "u") ? 4 : 8),
                let scalar = UInt32(String(decoding: digits, as: UTF8.self), radix: 16).flatMap(Unicode.Scalar.init)
            else { throw error("an escape needs the number of a character in 4 digits, or in 8 after \\U") }
            guard scalar != "\0" else { throw error("a NUL character") }
            text += String(scalar).utf8
            index += digits.count
        default: throw error("an unknown escape in a string; in single quotes, a backslash stands for itself")
        }
    }
}

// MARK: - Bytes

extension TOMLParser {
    /// The next byte; 0 at the end, because the text has no NUL.
    private var byte: UInt8 { byte(after: 0) }

    private func byte(after count: Int) -> UInt8 { index + count < bytes.count ? bytes[index + count] : 0 }

    private mutating func advance() {
        if index < bytes.count { index += 1 }
    }

    private mutating func skipBlanks() {
        while byte.isBlank { advance() }
    }

    /// Skips the end of a line, if it is next.
    private mutating func skipLineEnd() -> Bool {
        let length = byte == UInt8(ascii: "\n") ? 1 : 2
        guard length == 1 || (byte == UInt8(ascii: "\r") && byte(after: 1) == UInt8(ascii: "\n")) else { return false }
        index += length
        line += 1
        return true
    }

    /// Skips blanks, line ends and comments, and returns the next byte; 0 at the end.
    private mutating func nextContent() throws(SettingsError) -> UInt8 {
        while true {
            skipBlanks()
            if byte == UInt8(ascii: "#") { try comment() }
            guard skipLineEnd() else { return byte }
        }
    }

    private mutating func comment() throws(SettingsError) {
        let start = index
        while byte.mayStandInTOML { advance() }
        comments.append(
            TOMLDocument.Comment(line: line, text: String(decoding: bytes[start..<index], as: UTF8.self)))
        let isEnd = byte == 0 || byte == UInt8(ascii: "\n")
        guard isEnd || (byte == UInt8(ascii: "\r") && byte(after: 1) == UInt8(ascii: "\n")) else {
            throw error("a control character in a comment")
        }
    }

    private func error(_ message: String) -> SettingsError {
        SettingsError(file: file, line: line, message: "not valid TOML: \(message)")
    }

    private func twice(_ name: String, at line: Int) -> SettingsError {
        SettingsError(
            file: file, line: line, message: "not valid TOML: `\(name)` is there already")
    }
}

extension UInt8 {
    /// Whether TOML treats the byte as a space within a line.
    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    /// Whether it is a space within a line, or ends one as Windows does.
    var isBlankOrReturn: Bool { isBlank || self == UInt8(ascii: "\r") }

    /// Whether it may stand in a string or a comment: not a control character but a tab.
    fileprivate var mayStandInTOML: Bool { self == UInt8(ascii: "\t") || (self >= 0x20 && self != 0x7F) }
}
