package import ArgumentParser

/// A command whose help ends with examples.
package protocol WithExamples: ParsableCommand {
    /// The purposes, and for each the commands that serve it, which work exactly as printed.
    static var examples: KeyValuePairs<String, String> { get }
}

/// A command that can be run; it uses only the context that it gets.
package protocol Command: AsyncParsableCommand, WithExamples {
    mutating func run(in context: CommandContext) async throws
}

/// A command that tools run: it is served before the arguments are parsed, and only help and completion know it from here.
package protocol ServedCommand: Command {}

extension ServedCommand {
    package mutating func run(in context: CommandContext) async throws { throw CleanExit.helpRequest(Self.self) }
}
