import FoundationEssentials

extension JSONValue {
    /// Parses one JSON document; nil if the bytes aren't one, are too many, or nest too deep.
    ///
    /// - Parameters:
    ///   - bytes: The document in UTF-8.
    ///   - atMost: The highest number of bytes that is accepted.
    public init?(bytes: some Sequence<UInt8>, atMost: Int = 16 << 20) {
        let bytes = Array(bytes)
        guard bytes.count <= atMost else { return nil }
        var reader = JSONReader(bytes)
        guard let value = reader.document() else { return nil }
        self = value
    }

    /// Encodes the value as a JSON document, with its members sorted, so that equal values give equal bytes.
    ///
    /// - Parameter pretty: Whether to indent it for people.
    /// - Returns: The document in UTF-8.
    public func encoded(pretty: Bool = false) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if pretty { encoder.outputFormatting.insert(.prettyPrinted) }
        return (try? encoder.encode(self)).map { [UInt8]($0) } ?? []
    }

    /// Encodes the value on one line, in which every escape is `\uXXXX`: some programs take shorter ones for their own.
    public func encodedWithLongEscapes() -> [UInt8] {
        let short: [UInt8: String] = [
            UInt8(ascii: "b"): "08", UInt8(ascii: "t"): "09", UInt8(ascii: "n"): "0a", UInt8(ascii: "f"): "0c",
            UInt8(ascii: "r"): "0d", UInt8(ascii: "\""): "22", UInt8(ascii: "/"): "2f", UInt8(ascii: "\\"): "5c",
        ]
        let encoded = encoded()
        guard encoded.contains(UInt8(ascii: "\\")) else { return encoded }
        var bytes: [UInt8] = []
        var rest = encoded[...]
        while let byte = rest.popFirst() {
            bytes.append(byte)
            guard byte == UInt8(ascii: "\\"), let letter = rest.popFirst() else { continue }
            bytes += short[letter].map { Array("u00\($0)".utf8) } ?? [letter]
        }
        return bytes
    }

    /// The value as one line of JSON, its members sorted.
    public var encodedText: String { String(decoding: encoded(), as: UTF8.self) }
}
