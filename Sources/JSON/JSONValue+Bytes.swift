import FoundationEssentials

extension JSONValue {
    /// Reads one JSON document; nil if the bytes are not one, are too many, or nest absurdly deep.
    ///
    /// - Parameters:
    ///   - bytes: the document in UTF-8.
    ///   - atMost: how many bytes are taken.
    public init?(bytes: some Sequence<UInt8>, atMost: Int = 16 << 20) {
        let bytes = Array(bytes)
        guard bytes.count <= atMost else { return nil }
        var reader = JSONReader(bytes)
        guard let value = reader.document() else { return nil }
        self = value
    }

    /// The value as a JSON document, its members sorted so that equal values are equal bytes.
    ///
    /// - Parameter pretty: whether to indent it for people.
    /// - Returns: the document in UTF-8.
    public func encoded(pretty: Bool = false) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = pretty ? [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted] : .plain
        return (try? encoder.encode(self)).map { [UInt8]($0) } ?? []
    }

    /// The value as one line of JSON, its members sorted.
    public var encodedText: String { String(decoding: encoded(), as: UTF8.self) }
}

extension JSONEncoder.OutputFormatting {
    fileprivate static let plain: JSONEncoder.OutputFormatting = [.sortedKeys, .withoutEscapingSlashes]
}
