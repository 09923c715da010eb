/// How a tool asks for a URL: the arguments, environment and input of the program that it runs.
public struct Invocation: Sendable, Equatable {
    /// The arguments.
    public var arguments: [String]
    /// The variables that the tool sets.
    public var environment: [String: String]
    /// Everything that the tool writes to stdin.
    public var input: String

    /// Creates an invocation.
    public init(_ arguments: [String] = [], environment: [String: String] = [:], input: String = "") {
        self.arguments = arguments
        self.environment = environment
        self.input = input
    }
}

extension Consumer {
    /// Reads the whole invocation that the consumer was created for; the turn asks the engine, or ends with all output so
    /// far.
    public mutating func begin(with invocation: Invocation) -> Turn {
        var turn = begin()
        var output: [UInt8] = []
        for bytes in [Array(invocation.input.utf8), []] where turn.next == .read {
            turn = take(.input(bytes))
            output += turn.output
            turn.output = output
        }
        return turn
    }
}
