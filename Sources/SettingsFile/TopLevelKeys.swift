/// Where the keys above all tables stand in a file's text, for edits that leave all else as it is, byte for byte.
public struct TopLevelKeys: Sendable {
    private let text: String
    /// The text's bytes, less the mark that some editors put before it.
    private let bytes: [UInt8]
    private let markLength: Int
    private let pairs: [KeyScanner.Pair]
    private let firstHeader: Int?

    /// Looks for the keys.
    ///
    /// - Throws: `SettingsError` if the text can't be TOML.
    public init(file: String, text: String) throws(SettingsError) {
        let marked = text.utf8.count
        self.text = text
        let text = TOMLGuard.withoutMark(text)
        bytes = Array(text.utf8)
        markLength = marked - bytes.count
        var scanner = KeyScanner(text, notesLines: true)
        scanner.scan()
        if let fault = scanner.fault {
            throw SettingsError(file: file, line: fault.line, message: "not valid TOML: \(fault.message)")
        }
        pairs = scanner.pairs
        firstHeader = scanner.headers.first?.line
    }

    /// The text with a value, as TOML writes it, in place of a key's; a new key stands below all others.
    public func setting(_ key: String, to value: String) -> String {
        if let pair = pairs.first(where: { $0.names == [key] }) {
            var end = pair.value.upperBound
            while end > pair.value.lowerBound, bytes[end - 1].isBlankOrReturn { end -= 1 }
            return replacing(pair.value.lowerBound..<end, with: value)
        }
        let place = placeForNewKey
        let isAtLineStart = place == 0 || bytes[place - 1] == UInt8(ascii: "\n")
        // A key and the header of a table are two paragraphs.
        let gap = pairs.isEmpty && firstHeader != nil ? lineEnd : ""
        return replacing(place..<place, with: "\(isAtLineStart ? "" : lineEnd)\(key) = \(value)\(lineEnd)\(gap)")
    }

    /// The text less a key's lines; nil if it hasn't the key.
    public func removing(_ key: String) -> String? {
        guard let pair = pairs.first(where: { $0.names == [key] }) else { return nil }
        var start = pair.start
        while start > 0, bytes[start - 1] != UInt8(ascii: "\n") { start -= 1 }
        return replacing(start..<endOfLine(from: pair.value.upperBound), with: "")
    }

    /// Behind the last key; before the first table and its comment; else at the end.
    private var placeForNewKey: Int {
        if let last = pairs.last { return endOfLine(from: last.value.upperBound) }
        guard let firstHeader else { return bytes.count }
        let rows = String(decoding: bytes, as: UTF8.self).utf8
            .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { Substring($0).utf8 }
        return rows.prefix(TableBlocks.start(of: firstHeader - 1, in: rows)).reduce(0) { $0 + $1.count + 1 }
    }

    private func endOfLine(from place: Int) -> Int {
        bytes[place...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.count
    }

    private func replacing(_ range: Range<Int>, with new: String) -> String {
        let changed = bytes[..<range.lowerBound] + Array(new.utf8) + bytes[range.upperBound...]
        return String(decoding: Array(text.utf8.prefix(markLength)) + changed, as: UTF8.self)
    }

    private var lineEnd: String {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")), end > 0 else { return "\n" }
        return bytes[end - 1] == UInt8(ascii: "\r") ? "\r\n" : "\n"
    }
}

extension UInt8 {
    fileprivate var isBlankOrReturn: Bool { isBlank || self == UInt8(ascii: "\r") }
}
