import Addresses

/// Scans the text of a TOML file before the parser does, and records the line of each key and table.
///
/// It leaves validation to the parser, except for escaped NULs and for what toml++ 3.4.0 takes for granted (an
/// assertion, which is undefined behaviour in a release build): a key in a header, two digits in an hour, and a value
/// where an array has a brace or one of Unicode's line breaks. Up to its first error, the parser has read valid TOML,
/// so both agree on the positions. A key with an escape is recorded as written.
struct KeyScanner {
    /// The greatest depth at which lines are recorded; no settings are deeper.
    private static let deepest = 8
    /// How deep arrays and inline tables may nest, and how many parts a key may have.
    private static let mostNested = 64

    /// A header, `[a.b]` or `[[a.b]]`.
    struct Header {
        let names: [String]
        let isElement: Bool
        let line: Int
        /// The line on which its last value ends; its own line if it has no values.
        var lastLine: Int
    }

    /// A pair, `key = value`.
    struct Pair {
        /// The index of the header above it; nil for a top-level key.
        let header: Int?
        let names: [String]
        /// The byte offset at which the key begins.
        let start: Int
        /// The range of its value, including trailing blanks.
        let value: Range<Int>
    }

    /// A comment, `# text`.
    struct Comment {
        let line: Int
        /// The text from `#` to the end of the line.
        let text: String
    }

    /// The comments, in order.
    private(set) var comments: [Comment] = []
    /// The pairs outside inline tables, in order, if lines were requested.
    private(set) var pairs: [Pair] = []
    /// The lines of tables, keys and elements, if they were requested.
    private(set) var lines: [[KeyLines.Step]: Int] = [:]
    /// A defect that the parser must not see; the scan ends there.
    private(set) var fault: TOMLGuard.Fault?
    /// The headers, in order.
    private(set) var headers: [Header] = []
    private var nested = 0
    private var tablesSoFar: [[KeyLines.Step]: Int] = [:]
    private let notesLines: Bool
    private let bytes: [UInt8]
    private var index = 0
    private var line = 1

    init(_ text: String, notesLines: Bool = false) { self.init(Array(text.utf8), notesLines: notesLines) }

    /// Creates a scanner for the bytes of a text.
    init(_ bytes: [UInt8], notesLines: Bool = false) {
        self.notesLines = notesLines
        self.bytes = bytes
    }

    /// Scans every line, up to a fault.
    mutating func scan() {
        var table: [KeyLines.Step] = []
        while let byte = nextOfContent() {
            if byte == UInt8(ascii: "[") {
                table = header()
            } else {
                pair(in: table)
                if let last = headers.indices.last { headers[last].lastLine = line }
            }
        }
    }

    /// Parses `[a.b]` or `[[a.b]]`, and returns the table that it opens.
    private mutating func header() -> [KeyLines.Step] {
        let start = line
        advance()
        let isElement = byte == UInt8(ascii: "[")
        if isElement { advance() }
        let names = key()
        if names.isEmpty { fail("a table needs a name in its brackets") }
        headers.append(Header(names: names, isElement: isElement, line: start, lastLine: start))
        while let byte, byte != UInt8(ascii: "#"), byte != UInt8(ascii: "\n") { advance() }
        return notesLines ? place(of: names, isElement: isElement, at: start) : []
    }

    /// Records the tables of a header, and returns the one that it opens.
    private mutating func place(of names: [String], isElement: Bool, at start: Int) -> [KeyLines.Step] {
        var place: [KeyLines.Step] = []
        for (depth, name) in names.enumerated() {
            place = note(.key(name), of: place, at: start)
            guard !isElement || depth < names.count - 1, let count = tablesSoFar[place] else { continue }
            place = note(.element(count - 1), of: place, at: start)
        }
        if isElement {
            let count = tablesSoFar[place, default: 0]
            tablesSoFar[place] = count + 1
            place = note(.element(count), of: place, at: start)
        }
        return place
    }

    /// Parses `a.b = value`.
    private mutating func pair(in table: [KeyLines.Step]) {
        let before = index
        let start = line
        let names = key()
        var place = table
        if notesLines { for name in names { place = note(.key(name), of: place, at: start) } }
        if byte == UInt8(ascii: "=") {
            advance()
            skipBlanks()
            let value = index
            self.value(at: place)
            if notesLines, nested == 0 {
                let header = headers.indices.last
                pairs.append(Pair(header: header, names: names, start: before, value: value..<index))
            }
        }
        if index == before { advance() }
    }

    private mutating func value(at place: [KeyLines.Step]) {
        skipBlanks()
        nested += 1
        defer { nested -= 1 }
        guard nested <= Self.mostNested else { return fail("arrays and tables nest too deeply") }
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): skipString()
        case UInt8(ascii: "["): array(at: place)
        case UInt8(ascii: "{"): inlineTable(at: place)
        default: bareValue()
        }
    }

    /// Skips a number, a boolean or a date, whose time may follow after a space.
    private mutating func bareValue() {
        let start = index
        while let byte, !byte.isBlank, !Self.endsOfValues.contains(byte) { advance() }
        if let hour = hour(after: bytes[start..<index]), hour.prefix(2).count(where: \.isDigit) < 2 {
            return fail("a time needs two digits for its hour")
        }
        while let byte, !Self.endsOfValues.contains(byte) { advance() }
    }

    /// Returns the text after a date's `T` or space; nil if that isn't the date's time.
    private func hour(after word: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard word.count >= 10 else { return nil }
        let rest = word.dropFirst(10)
        if rest.first == UInt8(ascii: "T") || rest.first == UInt8(ascii: "t") { return rest.dropFirst() }
        let next = bytes[index...].dropFirst()
        return byte == UInt8(ascii: " ") && next.first?.isDigit == true ? next : nil
    }

    private mutating func array(at place: [KeyLines.Step]) {
        advance()
        var count = 0
        while let byte = nextOfContent(), byte != UInt8(ascii: "]") {
            let before = index
            if byte == UInt8(ascii: "}") || byte >= 0x80 { return fail("an array holds something that is not a value") }
            if byte != UInt8(ascii: ",") {
                value(at: notesLines ? note(.element(count), of: place, at: line) : [])
                count += 1
            }
            if index == before { advance() }
        }
        advance()
    }

    private mutating func inlineTable(at place: [KeyLines.Step]) {
        advance()
        while let byte = nextOfContent(), byte != UInt8(ascii: "}") { pair(in: place) }
        advance()
    }

    /// Parses the names of a dotted key.
    private mutating func key() -> [String] {
        var names: [String] = []
        while true {
            skipBlanks()
            guard let name = name() else { return names }
            names.append(name)
            if names.count > Self.mostNested { fail("a key has too many parts") }
            skipBlanks()
            guard byte == UInt8(ascii: ".") else { return names }
            advance()
        }
    }

    private mutating func name() -> String? {
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") { return string() }
        let start = index
        // A key without quotes is made of what labels are.
        while byte?.isLabelByte == true { advance() }
        return start == index ? nil : String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private mutating func string() -> String { String(decoding: bytes[skipString()], as: UTF8.self) }

    /// Skips a string of any of the four kinds, and returns the text between its quotes.
    @discardableResult
    private mutating func skipString() -> Range<Int> {
        let quote = bytes[index]
        let end = [UInt8](repeating: quote, count: bytes[index...].starts(with: [quote, quote, quote]) ? 3 : 1)
        for _ in end { advance() }
        let start = index
        while let byte {
            if byte == quote, end.count == 1 || bytes[index...].starts(with: end) { break }
            if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
                advance()
                if Self.escapesOfNUL.contains(where: { bytes[index...].starts(with: $0) }) { fail("a NUL character") }
            }
            advance()
        }
        let text = start..<index
        for _ in end { advance() }
        // A string in triple quotes may end with up to two more quotes.
        while end.count == 3, byte == quote { advance() }
        return text
    }

    /// Records the line of a step, unless it is known, and returns the place that it leads to.
    private mutating func note(_ step: KeyLines.Step, of table: [KeyLines.Step], at line: Int) -> [KeyLines.Step] {
        guard table.count <= Self.deepest else { return table }
        let place = table + [step]
        if place.count <= Self.deepest, lines[place] == nil { lines[place] = line }
        return place
    }
}

extension KeyScanner {
    private static let escapesOfNUL = ["u0000", "U00000000"].map { Array($0.utf8) }
    private static let endsOfValues = Array(",]}#\n".utf8)

    private mutating func fail(_ message: String) {
        if fault == nil { fault = (line, message) }
        index = bytes.count
    }

    private var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func advance() {
        guard let byte else { return }
        if byte == UInt8(ascii: "\n") { line += 1 }
        index += 1
    }

    private mutating func skipBlanks() {
        while let byte, byte.isBlank { advance() }
    }

    private mutating func comment() {
        let start = index
        while let byte, byte != UInt8(ascii: "\n") { advance() }
        comments.append(Comment(line: line, text: String(decoding: bytes[start..<index], as: UTF8.self)))
    }

    /// Returns the next byte that isn't part of a space, line end or comment; nil at the end.
    private mutating func nextOfContent() -> UInt8? {
        while let byte {
            switch byte {
            case UInt8(ascii: "#"): comment()
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): advance()
            default: return byte
            }
        }
        return nil
    }
}

/// Keeps text from TOMLKit that it can't handle.
///
/// TOMLKit passes C strings, which a NUL cuts short. Escaped NULs, and the texts that toml++ can't handle, are found by
/// `KeyScanner`, which tracks the syntax.
enum TOMLGuard {
    /// A defect in a line, counted from 1.
    typealias Fault = (line: Int, message: String)

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Returns the text without the byte order mark that editors on Windows write.
    static func withoutMark(_ text: String) -> String {
        guard text.utf8.starts(with: byteOrderMark) else { return text }
        return String(Substring(text.utf8.dropFirst(byteOrderMark.count)))
    }

    /// Scans the text.
    ///
    /// - Returns: The positions of its keys.
    /// - Throws: The first fault of the file, if the parser must not read the text.
    static func scan(_ text: String, of file: String) throws(SettingsError) -> KeyLines {
        func error(_ fault: Fault) -> SettingsError {
            SettingsError(file: file, line: fault.line, message: "not valid TOML: \(fault.message)")
        }
        if text.utf8.starts(with: byteOrderMark) { throw error((1, "a second byte order mark")) }
        let bytes = Array(text.utf8)
        if let cut = bytes.firstIndex(of: 0) {
            let line = 1 + bytes[..<cut].count { $0 == UInt8(ascii: "\n") }
            throw error((line, "a NUL character"))
        }
        var scanner = KeyScanner(bytes)
        scanner.scan()
        if let fault = scanner.fault { throw error(fault) }
        return KeyLines(text, headers: scanner.headers)
    }
}

extension UInt8 {
    /// Whether TOML treats the byte as a space within a line.
    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    /// Whether it is a space within a line, or ends one as Windows does.
    var isBlankOrReturn: Bool { isBlank || self == UInt8(ascii: "\r") }
}

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
