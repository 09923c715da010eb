import FoundationEssentials

extension JSONValue {
    /// How deep objects and arrays may nest; MSAL's caches need four levels.
    private static let deepest = 64

    /// Reads one JSON document; nil where the bytes are not one, or nest absurdly deep.
    package init?(bytes: some Sequence<UInt8>) {
        let data = Data(bytes)
        guard Self.nesting(of: data) <= Self.deepest,
            let value = try? JSONDecoder().decode(JSONValue.self, from: data)
        else { return nil }
        self = value
    }

    /// The value as a JSON document, its members sorted so that equal values are equal bytes.
    ///
    /// - Parameter pretty: whether to indent it for people.
    /// - Returns: the document in UTF-8.
    package func encoded(pretty: Bool = false) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = pretty ? [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted] : .plain
        return (try? encoder.encode(self)).map { [UInt8]($0) } ?? []
    }

    /// An upper bound for the nesting of a document: brackets inside strings count too, where they only open.
    private static func nesting(of data: Data) -> Int {
        var depth = 0
        var deepest = 0
        for byte in data {
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: continue
            }
            deepest = max(deepest, depth)
        }
        return deepest
    }
}

extension JSONEncoder.OutputFormatting {
    fileprivate static let plain: JSONEncoder.OutputFormatting = [.sortedKeys, .withoutEscapingSlashes]
}
