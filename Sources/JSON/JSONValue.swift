import FoundationEssentials

/// Any JSON value, so that unknown members survive a round trip.
///
/// If an object has several members with the same name, the first one counts; RFC 8259, 4, leaves that open.
public enum JSONValue: Sendable, Equatable {
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without a fraction that fits into 64 bits.
    case integer(Int64)
    /// Any other number.
    case number(Double)
    case string(String)
    case array([JSONValue])
    /// An object; the order of its members isn't kept.
    case object([String: JSONValue])

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
    /// - Parameter pretty: Whether to indent it for users.
    /// - Returns: The document in UTF-8.
    public func encoded(pretty: Bool = false) -> [UInt8] { Self.encode(self, pretty: pretty) ?? [] }

    /// Encodes a value of any type in the same way; nil if it isn't JSON.
    public static func encode(_ value: some Encodable, pretty: Bool = false) -> [UInt8]? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if pretty { encoder.outputFormatting.insert(.prettyPrinted) }
        return (try? encoder.encode(value)).map { [UInt8]($0) }
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

    /// A string, or null.
    public init(_ text: String?) { self = text.map(JSONValue.string) ?? .null }

    /// A number, or null.
    public init(_ number: Int?) { self = number.map { .integer(Int64($0)) } ?? .null }

    /// An array of strings.
    public init(strings: some Sequence<String>) { self = .array(strings.map(JSONValue.string)) }
}

extension JSONValue {
    /// The text of a string or, leniently, of a number; nil for anything else.
    ///
    /// Libraries differ: timestamps are decimal strings in some caches and numbers in others.
    public var text: String? {
        switch self {
        case .string(let text): text
        case .integer(let number): String(number)
        case .number(let number): String(number)
        case .null, .bool, .array, .object: nil
        }
    }

    /// The whole number in a number or a decimal string; nil for anything else, or if it is out of range.
    public var wholeNumber: Int? {
        switch self {
        case .integer(let number): Int(exactly: number)
        case .number(let number): Int(exactly: number.rounded(.towardZero))
        case .string(let text): Int(text) ?? Double(text).flatMap { Int(exactly: $0.rounded(.towardZero)) }
        case .null, .bool, .array, .object: nil
        }
    }

    /// The range of valid times, in which the difference of any two can't overflow.
    private static let times = -(1 << 53)...(1 << 53)

    /// The time in a number or a decimal string; nil of anything else, or of one that nobody could reckon with.
    public var time: Int? { wholeNumber.flatMap { Self.times.contains($0) ? $0 : nil } }

    /// The text of a string; nil for anything else.
    public var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The number if it was written without a fraction; nil for anything else.
    public var integer: Int64? {
        guard case .integer(let number) = self else { return nil }
        return number
    }

    /// The elements of an array; empty for anything else.
    public var elements: [JSONValue] {
        guard case .array(let values) = self else { return [] }
        return values
    }

    /// The members of an object; nil for anything else.
    public var members: [String: JSONValue]? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    /// Returns a member of an object; nil if there is none, or if the value isn't an object.
    public subscript(member: String) -> JSONValue? { members?[member] }

    /// Returns this object with another's members merged into it recursively; the other value if one isn't an object.
    public func merging(_ other: JSONValue) -> JSONValue {
        guard case .object(let mine) = self, case .object(let theirs) = other else { return other }
        return .object(mine.merging(theirs) { $0.merging($1) })
    }
}

extension JSONValue: Codable {
    /// Decodes any value, for libraries that need `Decodable`; `init(bytes:)` is much faster.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode([String: JSONValue].self) {
            self = .object(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .number(try container.decode(Double.self))
        }
    }

    /// Encodes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral
{
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates a whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates an object; if a name occurs several times, the last one counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}
