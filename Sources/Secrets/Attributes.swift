/// An ordered block of `key=value` lines: git's credential format, which the plugin protocol shares.
///
/// A key ending in `[]` is a list; an empty value for it clears the values before (git-credential(1), INPUT/OUTPUT
/// FORMAT). Of any other key, the last value counts. Unknown keys are kept.
public struct Attributes: Sendable, Equatable {
    /// One line of a block.
    public struct Line: Sendable, Equatable {
        /// The text before the first `=`; never empty, without NUL, line feed or carriage return.
        public let key: String
        /// The text after the first `=`; without NUL, line feed or carriage return.
        public let value: String
    }

    /// Every line, in the order in which it was read or appended.
    public private(set) var lines: [Line] = []

    /// Creates an empty block.
    public init() {}

    /// Whether the block has no line.
    public var isEmpty: Bool { lines.isEmpty }

    /// Returns the last value of a single-valued key; nil if the key doesn't occur.
    public subscript(key: String) -> String? {
        lines.last { $0.key == key }?.value
    }

    /// Returns the values of a list key (given with its `[]`) after the last line that cleared it.
    public func list(_ key: String) -> [String] {
        var values: [String] = []
        for line in lines where line.key == key {
            if line.value.isEmpty { values.removeAll() } else { values.append(line.value) }
        }
        return values
    }

    /// Appends a line.
    ///
    /// - Throws: `ProtocolError` if not every program would read the line like this: an empty key, a key with `=`, a NUL,
    ///   line feed or carriage return in either, or more than `AttributeParser.longestLine` bytes.
    public mutating func append(_ key: String, _ value: String) throws(ProtocolError) {
        try Self.check(key: key, value: value)
        lines.append(Line(key: key, value: value))
    }

    /// Appends a line for each value of a list key (given with its `[]`).
    public mutating func append(_ key: String, list values: [String]) throws(ProtocolError) {
        for value in values { try append(key, value) }
    }

    /// Removes every line of the key.
    public mutating func remove(_ key: String) {
        lines.removeAll { $0.key == key }
    }

    /// The block as bytes, without the blank line that ends it.
    public var encoded: [UInt8] {
        var bytes: [UInt8] = []
        for line in lines {
            bytes += line.key.utf8
            bytes.append(UInt8(ascii: "="))
            bytes += line.value.utf8
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    private static func check(key: String, value: String) throws(ProtocolError) {
        // Some programs end lines at a carriage return (CVE-2024-52006).
        let forbidden: (UInt8) -> Bool = { [0, UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains($0) }
        guard !key.isEmpty, !key.utf8.contains(where: { forbidden($0) || $0 == UInt8(ascii: "=") }) else {
            throw .malformedLine
        }
        guard !value.utf8.contains(where: forbidden) else { throw .forbiddenByte(key: key) }
        guard key.utf8.count + value.utf8.count + 2 <= AttributeParser.longestLine else { throw .lineTooLong }
    }
}

/// The reason why bytes aren't a block of attributes.
public enum ProtocolError: Error, Sendable, Equatable {
    /// A line has no `=`, or nothing before it.
    case malformedLine
    /// A value has a NUL, a line feed or a carriage return.
    case forbiddenByte(key: String)
    /// A line has more than `AttributeParser.longestLine` bytes.
    case lineTooLong
    /// There are more bytes than the reader accepts.
    case inputTooLong
    /// A line isn't UTF-8.
    case notUTF8
}
