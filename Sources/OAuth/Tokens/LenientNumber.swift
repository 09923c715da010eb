/// A whole number that an authority may send as a number or as a string.
package struct LenientNumber: Decodable, Sendable, Equatable {
    /// The number, at most 2^53 in size, so that sums of several can't overflow.
    package let value: Int

    /// Decodes either form; a fraction is rounded down.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let number =
            if let number = try? container.decode(Double.self) {
                number
            } else {
                Self.number(try container.decode(String.self))
            }
        guard let number else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a number")
        }
        value = Int(min(max(number.rounded(.down), -0x1p53), 0x1p53))
    }

    private static func number(_ text: String) -> Double? {
        let isDecimal = text.utf8.allSatisfy { "+-.0123456789Ee".utf8.contains($0) }
        return isDecimal ? Double(text).flatMap { $0.isFinite ? $0 : nil } : nil
    }
}

/// A member of an answer that counts as absent if it is missing or of another type.
@propertyWrapper
package struct Lenient<Value: Decodable & Sendable & Equatable>: Decodable, Sendable, Equatable {
    /// The member's value; nil if it is absent.
    package var wrappedValue: Value?

    /// Creates a member with a value.
    package init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    /// Decodes the value; any other type makes nil.
    package init(from decoder: any Decoder) { wrappedValue = try? Value(from: decoder) }
}

extension KeyedDecodingContainer {
    /// Decodes a member that may be missing.
    package func decode<Value>(_ type: Lenient<Value>.Type, forKey key: Key) throws -> Lenient<Value> {
        try decodeIfPresent(type, forKey: key) ?? Lenient(wrappedValue: nil)
    }
}
