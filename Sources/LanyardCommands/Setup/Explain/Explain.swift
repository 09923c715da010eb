import ArgumentParser
import JSON

/// `lanyard explain`.
struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say which token a URL gets, and why.",
        discussion:
            "Says what is stored and what `get` would do, too. Prints no secret, asks nothing and signs in nobody.")

    @Argument(help: "The URL, as git would use it.")
    var url: String

    @Option(help: ArgumentHelp("The account, by user name or identifier.", valueName: "account"))
    var account: String?

    @Flag(help: "Print JSON.")
    var json = false

    mutating func run() async throws {
        let explanation = try await Explainer(url: url, account: account).explanation()
        let console = CommandContext.current.console
        if json {
            console.print(explanation.json.encoded(pretty: true))
        } else {
            for line in explanation.lines(columns: OutputWidth.ofTerminal) { console.print(line) }
        }
    }
}
