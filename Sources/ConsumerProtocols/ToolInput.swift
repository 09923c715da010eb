/// A mistake in the arguments of a program that stands in for a tool's, told on its stderr.
struct Mistake: Error {
    let message: String
}

/// A tool's input so far, up to a maximum size.
struct ToolInput: Sendable {
    /// The maximum size of the input, or of one line, in bytes.
    static let longest = 1 << 20

    /// The input, without lines that were returned.
    private(set) var all: [UInt8] = []
    /// Whether the maximum was exceeded.
    private(set) var isTooLong = false

    /// Appends bytes; past the maximum, discards everything.
    mutating func take(_ more: [UInt8]) {
        all += more
        isTooLong = all.count > Self.longest
        if isTooLong { all = [] }
    }

    /// Appends bytes and goes on reading; past the maximum, ends with this turn.
    mutating func read(_ more: [UInt8], orEnd failure: Turn) -> Turn {
        take(more)
        return isTooLong ? failure : Turn(.read)
    }

    /// The input as text; nil if it isn't UTF-8.
    var text: String? { String(validating: all, as: UTF8.self) }

    /// Removes and returns the next line, without its line feed; nil if there is no complete line.
    mutating func line() -> [UInt8]? {
        guard let end = all.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        defer { all.removeSubrange(...end) }
        return Array(all[..<end])
    }
}
