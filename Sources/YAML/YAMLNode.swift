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

    /// Parses the first document in a text; nil if it is invalid, or has what isn't supported: keys that aren't text, or are there
    /// twice, directives, and depth.
    ///
    /// The libraries that could do this bring all of Foundation along, which is twice the size of this program. The tests compare it with
    /// one of them.
    public init?(yaml bytes: some Collection<UInt8>) {
        guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
        var reader = YAMLReader(Array(bytes))
        guard let node = try? reader.document() else { return nil }
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
