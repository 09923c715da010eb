import ArgumentParser
import ConsumerProtocols
import Rules

/// Go runs it without the argument parser, which is there for people.
struct GoAuthCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "goauth", abstract: "Answer the go command, which runs this if GOAUTH says so.",
        discussion: "Standard input is the server's answer, up to a blank line; it may be empty.")

    static let examples: KeyValuePairs = [
        "Make Go use lanyard": #"export GOAUTH="lanyard goauth""#,
        "See what Go gets": "lanyard goauth \(Example.url) </dev/null",
    ]

    @Argument(help: "What Go could not load; without it, the answer is empty.") var url: String?

    mutating func run(in context: CommandContext) async throws {
        var run = ConsumerRun(GoConsumer([url].compactMap(\.self)), in: context)
        let status = await run.toTheEnd()
        guard status == ExitStatus.done.rawValue else { throw ExitCode(status) }
    }
}
