import CYAML

/// Reads the first document of a text from libyaml's events.
struct YAMLReader: ~Copyable {
    /// The maximum nesting of values.
    private static let deepest = 64
    /// The maximum number of values that are repeated.
    private static let most = 10_000

    private let parser: OpaquePointer
    /// The rows of the text.
    private let rows: [Slice<UnsafeBufferPointer<UInt8>>]
    private var event = lanyard_yaml_event()
    private var depth = 0
    /// The row in which the last value ended.
    private var lastRow = 0
    private var anchors: [String: YAMLNode] = [:]
    /// The number of values that aliases stand for: a short text could stand for billions.
    private var repeated = 0

    /// Begins to read a text; the bytes must live as long as the reader.
    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let parser = lanyard_yaml_start(bytes.baseAddress, bytes.count) else { return nil }
        self.parser = parser
        rows = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
    }

    deinit { lanyard_yaml_end(parser) }

    /// Returns the first document, empty text if there is none; nil for what isn't YAML, or uses more of it than is read.
    mutating func document() -> YAMLNode? {
        repeat {
            guard next() else { return nil }
            if event.kind == LANYARD_YAML_STREAM_END { return .text("") }
        } while event.kind != LANYARD_YAML_DOCUMENT_START
        guard next(), let node = node(), next(), event.kind == LANYARD_YAML_DOCUMENT_END else { return nil }
        return node
    }

    /// Goes on to the next event; false if there is none, because the text isn't YAML.
    private mutating func next() -> Bool { lanyard_yaml_next(parser, &event) }

    /// Returns the value that begins with the current event, and stops at its last one.
    private mutating func node() -> YAMLNode? {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else { return nil }
        let anchor = event.anchor.map { String(cString: $0) }
        guard event.kind != LANYARD_YAML_ALIAS else {
            lastRow = Int(event.end_row)
            return copy(of: anchor ?? "")
        }
        let isPlain = hasPlainTag
        guard let value = value() else { return nil }
        let node = isPlain ? value : .other
        if let anchor { anchors[anchor] = node }
        return node
    }

    private mutating func value() -> YAMLNode? {
        switch event.kind {
        case LANYARD_YAML_SCALAR: scalar()
        case LANYARD_YAML_LIST_START: list()
        case LANYARD_YAML_MAP_START: map()
        default: nil
        }
    }

    private mutating func copy(of anchor: String) -> YAMLNode? {
        guard let node = anchors[anchor] else { return nil }
        repeated += node.size
        return repeated <= Self.most ? node : nil
    }

    /// Whether the value's tag, if it has one, changes nothing.
    private var hasPlainTag: Bool {
        guard let tag = event.tag.map({ String(cString: $0) }) else { return true }
        // glab writes its tokens with the tag of null. compose's tags say how files are merged.
        return ["!", "!override"].contains(tag)
            || ["str", "null", "map", "seq"].contains { tag.utf8.elementsEqual("tag:yaml.org,2002:\($0)".utf8) }
    }

    private mutating func scalar() -> YAMLNode {
        let bytes = UnsafeBufferPointer(start: event.text, count: event.length)
        let text = String(decoding: bytes, as: UTF8.self)
        let isPlain = event.style == CInt(LANYARD_YAML_PLAIN)
        let isBlock = event.style == CInt(LANYARD_YAML_LITERAL) || event.style == CInt(LANYARD_YAML_FOLDED)
        lastRow = Int(event.end_row)
        if isBlock {
            // It ends at the beginning of a row, behind those that are blank.
            if event.end_column == 0 { lastRow -= 1 }
            while lastRow > Int(event.row), rows[lastRow].allSatisfy({ $0 == 0x20 || $0 == 0x0D }) { lastRow -= 1 }
        }
        return .text(isPlain && ["~", "null", "Null", "NULL"].contains(text) ? "" : text)
    }

    private mutating func list() -> YAMLNode? {
        let isInBraces = event.style == CInt(LANYARD_YAML_IN_BRACES)
        lastRow = Int(event.row)
        var nodes: [YAMLNode] = []
        guard next() else { return nil }
        while event.kind != LANYARD_YAML_LIST_END {
            guard let node = node(), next() else { return nil }
            nodes.append(node)
        }
        if isInBraces { lastRow = Int(event.end_row) }
        return .list(nodes)
    }

    private mutating func map() -> YAMLNode? {
        let isInBraces = event.style == CInt(LANYARD_YAML_IN_BRACES)
        lastRow = Int(event.row)
        var entries: [YAMLEntry] = []
        guard next() else { return nil }
        while event.kind != LANYARD_YAML_MAP_END {
            let (row, column) = (Int(event.row), Int(event.column))
            guard event.kind == LANYARD_YAML_SCALAR else { return nil }
            let name = String(decoding: UnsafeBufferPointer(start: event.text, count: event.length), as: UTF8.self)
            guard next(), let value = node() else { return nil }
            let isAlone = !isInBraces && rows[row].prefix(column).allSatisfy { $0 == 0x20 }
            entries.append(YAMLEntry(name: name, value: value, rows: isAlone ? row..<max(row, lastRow) + 1 : nil))
            guard next() else { return nil }
        }
        if isInBraces { lastRow = Int(event.end_row) }
        return Set(entries.map(\.name)).count == entries.count ? .map(entries) : nil
    }
}
