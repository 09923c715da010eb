import Addresses

/// The subset of YAML in which programs write settings: nested maps of texts, one entry per line.
///
/// Other notations, such as lists, are skipped with everything in them. Anything that can't be told from an error is an
/// error.
public struct PlainYAML: Sendable {
    /// A value.
    public enum Node: Sendable, Equatable {
        case text(String)
        case map([String: Node])
        /// A value that isn't supported.
        case other

        /// The text; nil for anything else, and if it is empty.
        public var text: String? {
            guard case .text(let text) = self, !text.isEmpty else { return nil }
            return text
        }

        /// The members of a map; empty for anything else.
        public var members: [String: Node] {
            guard case .map(let members) = self else { return [:] }
            return members
        }

        /// Returns a member of a map.
        public subscript(name: String) -> Node? { members[name] }
    }

    private struct Line {
        let indent: Int
        let text: Substring

        var isOfList: Bool { text.isSame(as: "-") || text.hasPrefix("- ") }
    }

    private struct Unreadable: Error {}

    private static let deepest = 16

    private var lines: ArraySlice<Line>

    /// Parses a document that is a map; nil if it isn't one, or is invalid.
    public static func read(_ bytes: [UInt8]) -> Node? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        guard var reader = try? PlainYAML(text) else { return nil }
        guard let first = reader.lines.first else { return .map([:]) }
        guard first.indent == 0, let map = try? reader.map(at: 0, depth: 0), reader.lines.isEmpty else { return nil }
        return .map(map)
    }

    private init(_ text: String) throws(Unreadable) {
        var lines: [Line] = []
        for raw in text.pieces(between: "\n") {
            let line = raw.utf8.last == UInt8(ascii: "\r") ? Substring(raw.utf8.dropLast()) : raw
            let indent = line.utf8.prefix { $0 == UInt8(ascii: " ") }.count
            let content = Substring(line.utf8.dropFirst(indent)).trimmed()
            if content.isEmpty || content.hasPrefix("#") { continue }
            if lines.isEmpty, content.isSame(as: "---") { continue }
            guard line.utf8.dropFirst(indent).first != UInt8(ascii: "\t") else { throw Unreadable() }
            lines.append(Line(indent: indent, text: content))
        }
        self.lines = lines[...]
    }

    private mutating func map(at indent: Int, depth: Int) throws(Unreadable) -> [String: Node] {
        guard depth < Self.deepest else { throw Unreadable() }
        var members: [String: Node] = [:]
        while let line = lines.first, line.indent >= indent {
            guard line.indent == indent, let (key, rest) = Self.key(of: line.text) else { throw Unreadable() }
            lines.removeFirst()
            let value = try rest.isEmpty ? below(indent, depth: depth) : scalar(rest, at: indent)
            guard members.updateValue(value, forKey: key) == nil else { throw Unreadable() }
        }
        return members
    }

    /// Parses the value below a key that has none on its line.
    private mutating func below(_ indent: Int, depth: Int) throws(Unreadable) -> Node {
        guard let next = lines.first else { return .text("") }
        if next.isOfList, next.indent >= indent {
            while let line = lines.first, line.indent > indent || line.indent == indent && line.isOfList {
                lines.removeFirst()
            }
            return .other
        }
        guard next.indent > indent else { return .text("") }
        return .map(try map(at: next.indent, depth: depth + 1))
    }

    /// Parses a value on its key's line; one that continues on further lines isn't supported.
    private mutating func scalar(_ text: Substring, at indent: Int) -> Node {
        var isAlone = true
        while let line = lines.first, line.indent > indent {
            lines.removeFirst()
            isAlone = false
        }
        return isAlone ? Self.value(text) : .other
    }

    /// Returns a key and the text after its colon, which is empty for a comment.
    private static func key(of text: Substring) -> (String, Substring)? {
        var rest = text
        let key: String
        if let (quoted, behind) = quotation(text) {
            (key, rest) = (quoted, behind)
            guard rest.utf8.first == UInt8(ascii: ":") else { return nil }
        } else {
            guard let first = text.utf8.first, !first.isIndicator, let colon = colon(in: text) else { return nil }
            key = String(text[..<colon].trimmed())
            rest = text[colon...]
        }
        let value = Substring(rest.utf8.dropFirst()).trimmed()
        guard !key.isEmpty, rest.utf8.count == 1 || rest.utf8.dropFirst().first == UInt8(ascii: " ") else { return nil }
        return (key, value.hasPrefix("#") ? "" : value)
    }

    /// Returns the position of the first colon that is followed by a space or the end.
    private static func colon(in text: Substring) -> Substring.Index? {
        text.utf8.indices.first { index in
            let next = text.utf8[text.utf8.index(after: index)...].first
            return text.utf8[index] == UInt8(ascii: ":") && (next == nil || next == UInt8(ascii: " "))
        }
    }

    private static func value(_ text: Substring) -> Node {
        if let (quoted, behind) = quotation(text) {
            let rest = behind.trimmed()
            return rest.isEmpty || rest.hasPrefix("#") && behind.hasPrefix(" ") ? .text(quoted) : .other
        }
        // glab writes its tokens with such a tag.
        for tag in ["!!null ", "!!str "] where text.hasPrefix(tag) {
            return value(Substring(text.utf8.dropFirst(tag.utf8.count)).trimmed())
        }
        guard let first = text.utf8.first, !first.isIndicator || text.hasPrefix("#") else { return .other }
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if byte == UInt8(ascii: "#"), bytes.last == UInt8(ascii: " ") || bytes.isEmpty { break }
            bytes.append(byte)
        }
        let plain = String(decoding: bytes, as: UTF8.self).trimmed()
        // A nested map on one line isn't allowed in YAML.
        guard !plain.hasBytes(": "), !plain.hasSuffix(":") else { return .other }
        return .text(["null", "~"].contains(String(plain)) ? "" : String(plain))
    }

    /// Returns the quoted text at the beginning and the text after it; nil if there is none, or if it isn't supported.
    private static func quotation(_ text: Substring) -> (String, Substring)? {
        guard let quote = text.utf8.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return nil }
        var bytes: [UInt8] = []
        var rest = text.utf8.dropFirst()
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
                // Other escapes don't occur in hosts, names or tokens.
                guard let escaped = rest.popFirst(), [0x22, 0x2F, 0x5C].contains(escaped) else { return nil }
                bytes.append(escaped)
            } else if byte == quote {
                guard quote == UInt8(ascii: "'"), rest.first == quote else {
                    return String(validating: bytes, as: UTF8.self).map { ($0, Substring(rest)) }
                }
                bytes.append(quote)
                rest.removeFirst()
            } else {
                bytes.append(byte)
            }
        }
        return nil
    }
}

extension UInt8 {
    /// Whether a YAML value that begins with this byte has a special meaning.
    fileprivate var isIndicator: Bool { "-?:,[]{}#&*!|>'\"%@`".utf8.contains(self) }
}
