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
