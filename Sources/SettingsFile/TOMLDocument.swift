/// A TOML file's values, and where everything stands in its text: for errors with a line, and for edits that leave all
/// else as it is, byte for byte.
struct TOMLDocument: Sendable {
    /// A header, `[a.b]` or `[[a.b]]`.
    struct Header {
        let names: [String]
        let isElement: Bool
        /// Counted from 1.
        let line: Int
        /// The line on which its last value ends; its own line if it has no values.
        var lastLine: Int
    }

    /// A pair, `key = value`, outside tables in braces.
    struct Pair {
        /// The index of the header above it; nil for a top-level key.
        let header: Int?
        let names: [String]
        /// The byte offset at which the key begins.
        let start: Int
        /// The range of its value.
        let value: Range<Int>
    }

    /// A comment, `# text`.
    struct Comment {
        let line: Int
        /// The text from `#` to the end of the line.
        let text: String
    }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The mark that editors on Windows put before a text; empty if there is none.
    let mark: [UInt8]
    /// The text less the mark.
    let bytes: [UInt8]
    /// All tables; the first one is the top level.
    let tables: [TOMLTable]
    let headers: [Header]
    let pairs: [Pair]
    let comments: [Comment]

    /// Reads a text.
    ///
    /// - Throws: `SettingsError` if it isn't valid TOML.
    init(_ text: String, file: String) throws(SettingsError) {
        let all = Array(text.utf8)
        mark = all.starts(with: Self.byteOrderMark) ? Self.byteOrderMark : []
        bytes = Array(all.dropFirst(mark.count))
        var parser = TOMLParser(bytes, file: file)
        try parser.parse()
        (tables, headers, pairs, comments) = (parser.tables, parser.headers, parser.pairs, parser.comments)
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

/// A table of a document.
struct TOMLTable: Sendable {
    /// What the table was made by, which decides what may be added to it.
    enum Kind: Sendable {
        /// A header of its own, or the top level.
        case defined
        /// The header of a table in it.
        case implied
        /// A dotted key.
        case dotted
        /// Braces, or a key in them.
        case inline
    }

    var kind: Kind
    /// The line at which it begins, from 1; nil for the top level.
    var line: Int?
    var entries: [String: TOMLEntry] = [:]
}

/// The value of a key, or of an array's element.
struct TOMLEntry: Sendable {
    /// The line at which the key or the element begins, from 1.
    let line: Int
    var value: TOMLValue
}

/// A value; a table is its index in the document.
indirect enum TOMLValue: Sendable {
    case string(String)
    case integer(Int)
    case float(Double)
    case boolean(Bool)
    /// A date, a time, or both, as written.
    case moment(String)
    case array([TOMLEntry])
    case table(Int)
    /// What `[[key]]` is written as.
    case tables([Int])
}

extension ArraySlice<UInt8> {
    /// Whether a row has nothing but blanks.
    var isBlank: Bool { allSatisfy(\.isBlankOrReturn) }

    fileprivate var isComment: Bool { first { !$0.isBlank } == UInt8(ascii: "#") }
}
