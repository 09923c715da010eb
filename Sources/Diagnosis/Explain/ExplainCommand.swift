package import ArgumentParser
package import CommandKit
import JSON
import Rules
import Terminal
import Tools

package struct ExplainCommand: Command {
    package static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Explain which token a URL gets, and why.",
        discussion:
            "Also shows what is stored and what `get` would do. Prints no secrets, asks nothing, and signs no one in.")

    package static let examples: KeyValuePairs = [
        "Explain a repository": "lanyard explain \(Example.url)/project/_git/repo",
        "Find out what docker gets": "lanyard explain https://registry.contoso.com --for docker",
        "Find out what a server wants that no rule maps": "lanyard explain --online \(Example.ownURL)/repo",
    ]

    @Argument(help: "The URL, as git would use it.")
    package var url: String

    @Option(
        help: ArgumentHelp("The account: a user name or an identifier, or the beginning of one.", valueName: "account"))
    package var account: String?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("Explain what this tool would get.", valueName: "tool"))
    package var tool: ToolName?

    @Flag(help: "List every rule that doesn't map the URL, not only close ones.")
    package var all = false

    @Flag(help: "Have git ask the server, without a name or password, how to sign in.")
    var online = false

    @Flag(help: "Print JSON.")
    package var json = false

    package mutating func run(in context: CommandContext) async throws {
        let asking = try await asking(in: context)
        let explainer = try Explainer(url: address, account: account, isOnline: online, for: asking, in: context)
        let explanation = await explainer.explanation()
        let console = context.console
        if json {
            console.print(explanation.json.encoded(pretty: true))
        } else {
            for line in explanation.lines(columns: Console.columns, all: all) { console.print(line) }
        }
    }

    /// Whether the URL is that of a sparse index in cargo's form.
    private var isSparse: Bool { tool?.text == "cargo" && url.hasPrefix(CargoProtocol.sparse) }

    /// The URL without cargo's prefix.
    private var address: String { isSparse ? String(url.dropFirst(CargoProtocol.sparse.count)) : url }

    /// Returns the tool after it has asked; nil if none is named.
    private func asking(in context: CommandContext) async throws(CommandError) -> SimulatedTool? {
        guard let tool else { return nil }
        let whole = try address.asWholeURL
        if isSparse { return SimulatedTool(tool, CargoProtocol.sparse + whole, in: context) }
        // git doesn't send the path unless it is configured to.
        let isSent = tool.isGit ? await GitConfiguration(context).sendsPath(for: whole) : true
        return SimulatedTool(tool, isSent ? whole : whole.placeOfURL, in: context)
    }

    package init() {}
}
