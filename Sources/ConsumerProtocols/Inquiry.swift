/// How a tool asks for a URL: what it runs its program with, and what it writes to it.
public struct Inquiry: Sendable, Equatable {
    /// The arguments.
    public var arguments: [String]
    /// The variables that it sets.
    public var environment: [String: String]
    /// All that it writes.
    public var input: String

    /// Makes an inquiry.
    public init(_ arguments: [String] = [], environment: [String: String] = [:], input: String = "") {
        self.arguments = arguments
        self.environment = environment
        self.input = input
    }
}

extension Consumer {
    /// Reads all of an inquiry for which it was made; the turn asks the engine, or ends with all that was answered.
    public mutating func hear(_ inquiry: Inquiry) -> Turn {
        var turn = begin()
        var output: [UInt8] = []
        for bytes in [Array(inquiry.input.utf8), []] where turn.next == .read {
            turn = take(.input(bytes))
            output += turn.output
            turn.output = output
        }
        return turn
    }
}
