/// A whole number that an authority may send as a number or as a string.
package struct LenientNumber: Decodable, Sendable, Equatable {
    /// The number.
    package let value: Int

    /// Decodes either form.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int.self) {
            value = number
        } else if let number = try? container.decode(Double.self), let whole = Int(exactly: number.rounded(.down)) {
            value = whole
        } else if let number = Int(try container.decode(String.self)) {
            value = number
        } else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a whole number")
        }
    }
}
