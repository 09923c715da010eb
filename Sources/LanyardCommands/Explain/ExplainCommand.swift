import ArgumentParser
import JSON
import Terminal

struct ExplainCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Say which token a URL gets, and why.",
        discussion:
            "Says what is stored and what `get` would do, too. Prints no secret, asks nothing and signs in nobody.")

    @Argument(help: "The URL, as git would use it.")
    var url: String

    @Option(help: ArgumentHelp("The account, by user name or identifier; its beginning will do.", valueName: "account"))
    var account: String?

    @Flag(help: "List every rule that is not the one, not only near misses.")
    var all = false

    @Flag(help: "Print JSON.")
    var json = false

    mutating func run(in context: CommandContext) async throws {
        let explanation = try await Explainer(url: url, account: account, in: context).explanation()
        let console = context.console
        if json {
            console.print(explanation.json.encoded(pretty: true))
        } else {
            for line in explanation.lines(columns: OutputWidth.ofTerminal, all: all) { console.print(line) }
        }
    }
}
