/// A tool's input so far, up to a maximum size.
struct ToolInput: Sendable {
    /// The maximum size of the input, or of one line, in bytes.
    static let longest = 1 << 20

    /// The bytes that haven't been returned as lines yet.
    private var bytes: [UInt8] = []
    /// Whether the maximum was exceeded.
    private(set) var isTooLong = false

    /// Appends bytes; past the maximum, discards everything.
    mutating func take(_ more: [UInt8]) {
        bytes += more
        isTooLong = bytes.count > Self.longest
        if isTooLong { bytes = [] }
    }

    /// The input as text; nil if it isn't UTF-8.
    var text: String? { String(validating: bytes, as: UTF8.self) }

    /// The input, without lines that were returned.
    var all: [UInt8] { bytes }

    /// Removes and returns the next line, without its line feed; nil if there is no complete line.
    mutating func line() -> [UInt8]? {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        defer { bytes.removeSubrange(...end) }
        return Array(bytes[..<end])
    }
}
