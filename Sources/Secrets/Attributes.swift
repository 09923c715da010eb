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

/// The reason why bytes aren't a block of attributes, or a block isn't the message that it should be.
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
    /// There is no value for this key.
    case missing(String)
    /// The value of this key is invalid.
    case invalid(String)
    /// This key has no place in the message.
    case unexpected(String)
}

/// Splits bytes into blocks of attributes as they arrive.
///
/// Only a line feed ends a line; a single carriage return before it is dropped, as in git. Elsewhere, a carriage return
/// is an error, because other programs end lines there (CVE-2024-50338, CVE-2024-52006). An over-long line is an error and is never split
/// (the `wwwauth[]` attack that git 2.41 closed).
public struct AttributeParser: Sendable {
    /// The longest line that git writes or reads: 65,535 bytes including its line feed.
    public static let longestLine = 65_535

    private let longestInput: Int
    private var received = 0
    private var line: [UInt8] = []
    private var block = Attributes()

    /// Creates a parser.
    ///
    /// - Parameter longestInput: The highest number of bytes that it accepts, over all blocks.
    public init(longestInput: Int) {
        self.longestInput = longestInput
    }

    /// Parses more bytes, and returns the blocks that a blank line completed.
    ///
    /// An empty block (a blank line on its own) is returned, too; its meaning is up to the caller.
    public mutating func consume(_ bytes: some Sequence<UInt8>) throws(ProtocolError) -> [Attributes] {
        var completed: [Attributes] = []
        try consume(bytes, into: &completed)
        return completed
    }

    /// Parses more bytes, and adds the blocks that a blank line completed, including those before an error.
    ///
    /// So blocks before an error count, however the bytes were split into reads.
    public mutating func consume(
        _ bytes: some Sequence<UInt8>, into completed: inout [Attributes]
    ) throws(ProtocolError) {
        // An array, because Swift would look up at run time how to read a generic sequence, which takes long.
        for byte in Array(bytes) {
            received += 1
            guard received <= longestInput else { throw .inputTooLong }
            if byte != UInt8(ascii: "\n") {
                line.append(byte)
                guard line.count < Self.longestLine else { throw .lineTooLong }
            } else if try endLine() {
                completed.append(block)
                block = Attributes()
            }
        }
    }

    /// Ends the input, and returns the unfinished block; nil if there is none.
    ///
    /// A last line without its line feed counts.
    public mutating func finish() throws(ProtocolError) -> Attributes? {
        if !line.isEmpty { _ = try endLine() }
        defer { block = Attributes() }
        return block.isEmpty ? nil : block
    }

    /// Adds the current line to the block; true if it was the blank line that ends a block.
    private mutating func endLine() throws(ProtocolError) -> Bool {
        defer { line.removeAll(keepingCapacity: true) }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        if line.isEmpty { return true }
        guard let equals = line.firstIndex(of: UInt8(ascii: "=")), equals > 0 else { throw .malformedLine }
        guard let key = String(validating: line[..<equals], as: UTF8.self),
            let value = String(validating: line[(equals + 1)...], as: UTF8.self)
        else { throw .notUTF8 }
        try block.append(key, value)
        return false
    }
}
