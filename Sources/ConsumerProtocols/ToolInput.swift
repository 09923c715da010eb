/// What a tool writes, as it comes, and never more than it may.
struct ToolInput: Sendable {
    /// The most bytes that a tool may send, or that one line of it may have.
    static let longest = 1 << 20

    /// What was taken and not given back yet.
    private var bytes: [UInt8] = []
    /// Whether more came than may.
    private(set) var isTooLong = false

    /// Takes what came.
    mutating func take(_ more: [UInt8]) {
        bytes += more
        isTooLong = bytes.count > Self.longest
        if isTooLong { bytes = [] }
    }

    /// All that came, as text; nil if it isn't UTF-8.
    var text: String? { String(validating: bytes, as: UTF8.self) }

    /// All that came.
    var all: [UInt8] { bytes }

    /// Gives back the next line, without its end; nil if none is complete.
    mutating func line() -> [UInt8]? {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        defer { bytes.removeSubrange(...end) }
        return Array(bytes[..<end])
    }
}
