import Addresses

/// Converts YAML's flow style, with braces and brackets as in JSON, to lines in block style.
///
/// It supports what kubeconfigs need: no anchors, tags or comments.
struct KubeFlow {
    private indirect enum Node {
        /// A scalar with its quotes, if any.
        case scalar(String)
        case list([Node])
        case map([(key: String, value: Node)])
    }

    /// The maximum nesting of values; a kubeconfig has six levels.
    private static let deepest = 30

    private let bytes: [UInt8]
    private var place = 0

    private init(_ text: some StringProtocol) {
        bytes = Array(text.utf8)
    }

    /// Returns the lines of the value at the beginning of a text; nil if it isn't a map or list, or can't be read.
    static func lines(_ text: some StringProtocol) -> [String]? {
        var reader = KubeFlow(text)
        reader.skipBlanks()
        guard let next = reader.next, "{[".utf8.contains(next), let node = reader.node(depth: 0) else { return nil }
        return lines(of: node)
    }

    private static func lines(of node: Node) -> [String] {
        switch node {
        case .scalar(let text): [text]
        case .list(let nodes):
            nodes.flatMap { element in
                lines(of: element).enumerated().map { index, line in (index == 0 ? "- " : "  ") + line }
            }
        case .map(let members):
            members.flatMap { key, value -> [String] in
                switch value {
                case .scalar(let text): ["\(key): \(text)"]
                case .list(let nodes): nodes.isEmpty ? ["\(key): []"] : ["\(key):"] + lines(of: value)
                case .map(let members):
                    members.isEmpty ? ["\(key): {}"] : ["\(key):"] + lines(of: value).map { "  \($0)" }
                }
            }
        }
    }

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func skipBlanks() {
        while let next, " \t\r\n".utf8.contains(next) { place += 1 }
    }

    /// Skips blanks and then a byte, if it is next.
    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard next == UInt8(ascii: byte) else { return false }
        place += 1
        return true
    }

    private mutating func node(depth: Int) -> Node? {
        guard depth < Self.deepest else { return nil }
        if take("{") { return map(depth) }
        if take("[") { return list(depth) }
        return scalar().map(Node.scalar)
    }

    private mutating func map(_ depth: Int) -> Node? {
        var members: [(key: String, value: Node)] = []
        while !take("}") {
            guard let key = scalar(), take(":"), let value = node(depth: depth + 1) else { return nil }
            members.append((key.unquoted, value))
            guard take(",") || isAtEnd("}") else { return nil }
        }
        return .map(members)
    }

    private mutating func list(_ depth: Int) -> Node? {
        var nodes: [Node] = []
        while !take("]") {
            guard let node = node(depth: depth + 1) else { return nil }
            nodes.append(node)
            guard take(",") || isAtEnd("]") else { return nil }
        }
        return .list(nodes)
    }

    private mutating func isAtEnd(_ byte: Unicode.Scalar) -> Bool {
        skipBlanks()
        return next == UInt8(ascii: byte)
    }

    /// Reads a key or value on one line.
    private mutating func scalar() -> String? {
        skipBlanks()
        guard let first = next else { return nil }
        let start = place
        if first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") {
            guard skipQuoted(first) else { return nil }
        } else {
            while let next, !isEndOfPlain(next) { place += 1 }
        }
        guard place > start else { return nil }
        let text = String(decoding: bytes[start..<place], as: UTF8.self)
        return text.utf8.contains(UInt8(ascii: "\n")) ? nil : text.trimmed(of: " \t\r").description
    }

    private mutating func skipQuoted(_ quote: UInt8) -> Bool {
        place += 1
        while let next {
            place += 1
            if next == quote { return true }
            if next == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") { place += 1 }
        }
        return false
    }

    /// Whether a byte ends a scalar without quotes; a colon does only before a blank, which keeps URLs whole.
    private func isEndOfPlain(_ byte: UInt8) -> Bool {
        if byte == UInt8(ascii: ":") { return place + 1 >= bytes.count || " \t\r\n".utf8.contains(bytes[place + 1]) }
        return ",{}[]\n".utf8.contains(byte)
    }
}
