import FoundationEssentials

extension JSONValue {
    /// How deep objects and arrays may nest; MSAL's caches need four levels.
    private static let deepest = 64

    /// Reads one JSON document; nil where the bytes are not one, are too many, or nest absurdly deep.
    ///
    /// - Parameters:
    ///   - bytes: the document in UTF-8.
    ///   - atMost: how many bytes are taken.
    public init?(bytes: some Sequence<UInt8>, atMost: Int = 16 << 20) {
        let bytes = Array(bytes)
        guard bytes.count <= atMost, bytes.withUnsafeBytes(Self.nesting) <= Self.deepest else { return nil }
        let data = bytes.withUnsafeBytes { bytes in bytes.baseAddress.map { Data(bytes: $0, count: bytes.count) } }
        guard let data,
            let value = try? JSONDecoder().decode(JSONValue.self, from: data)
        else { return nil }
        self = value
    }

    /// Does what the first document costs besides the reading of it, which is more than most documents cost.
    ///
    /// For who has to wait for something before there is a document.
    public static func prepare() { _ = JSONValue(bytes: #"{"":""}"#.utf8) }

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

    /// An upper bound for the nesting of a document: brackets inside strings count too, where they only open.
    private static func nesting(of document: UnsafeRawBufferPointer) -> Int {
        var depth = 0
        var deepest = 0
        for byte in document {
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
