import CYAML

/// A value in a YAML document.
public indirect enum YAMLNode: Sendable, Equatable {
    /// A scalar, whatever it stands for; empty for null.
    case text(String)
    case list([YAMLNode])
    /// A map, with its entries in their order.
    case map([YAMLEntry])
    /// A value with a tag that changes its meaning.
    case other

    /// The number of values in it.
    var size: Int {
        switch self {
        case .text, .other: 1
        case .list(let elements): elements.reduce(1) { $0 + $1.size }
        case .map(let entries): entries.reduce(1) { $0 + $1.value.size }
        }
    }

    /// Whether libyaml is there, without which nothing can be read.
    public static var isSupported: Bool { lanyard_yaml_open() }

    /// Parses the first document in a text; nil if it is invalid, or has what isn't supported: keys that aren't text, or are there
    /// twice, depth, and characters that only some readers take for the end of a row.
    public init?(yaml bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        guard let text = String(validating: bytes, as: UTF8.self), text.hasPlainBreaks else { return nil }
        let node = bytes.withUnsafeBufferPointer { bytes -> YAMLNode? in
            guard var reader = YAMLReader(bytes) else { return nil }
            return reader.document()
        }
        guard let node else { return nil }
        self = node
    }

    /// The scalar; nil for anything else, and if it is empty.
    public var text: String? {
        guard case .text(let text) = self, !text.isEmpty else { return nil }
        return text
    }

    /// The elements of a list; empty for anything else.
    public var elements: [YAMLNode] {
        guard case .list(let elements) = self else { return [] }
        return elements
    }

    /// The entries of a map, and those that it takes from others (`<<`); empty for anything else.
    public var entries: [YAMLEntry] {
        guard case .map(let own) = self else { return [] }
        let sources = own.filter { $0.name == "<<" }.map(\.value).flatMap { $0.elements.isEmpty ? [$0] : $0.elements }
        return sources.flatMap(\.entries).reduce(into: own.filter { $0.name != "<<" }) { found, other in
            if !found.contains(where: { $0.name == other.name }) {
                found.append(YAMLEntry(name: other.name, value: other.value))
            }
        }
    }

    /// Returns an entry of a map.
    public func entry(_ name: String) -> YAMLEntry? { entries.first { $0.name == name } }

    /// Returns the value of a map's entry.
    public subscript(name: String) -> YAMLNode? { entry(name)?.value }
}

/// An entry of a YAML map.
public struct YAMLEntry: Sendable, Equatable {
    /// The key.
    public let name: String
    /// The value.
    public let value: YAMLNode
    /// The rows of the text that are the entry's and nobody else's, counted from 0; nil if there are none, as in braces.
    public let rows: Range<Int>?

    /// Creates an entry.
    public init(name: String, value: YAMLNode, rows: Range<Int>? = nil) {
        self.name = name
        self.value = value
        self.rows = rows
    }

    /// Whether both say the same, wherever it stands.
    public static func == (one: YAMLEntry, other: YAMLEntry) -> Bool {
        one.name == other.name && one.value == other.value
    }
}

extension String {
    /// Whether it has no control characters, and no end of a row but those that all readers know.
    fileprivate var hasPlainBreaks: Bool {
        var last: Unicode.Scalar = "\n"
        for (index, scalar) in unicodeScalars.enumerated() {
            guard last != "\r" || scalar == "\n" else { return false }
            switch scalar.value {
            case 9, 10, 13, 0x20..<0x7F: break
            case ..<0xA0, 0x2028, 0x2029: return false
            case 0xFEFF where index > 0: return false
            default: break
            }
            last = scalar
        }
        return last != "\r"
    }
}
