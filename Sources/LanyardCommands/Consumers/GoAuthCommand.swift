import ArgumentParser
import Rules

struct GoAuthCommand: ServedCommand {
    static let configuration = CommandConfiguration(
        commandName: "goauth", abstract: "Answer the go command's requests for credentials (GOAUTH).",
        discussion: "Standard input is the server's answer, up to a blank line; it may be empty.")

    static let examples: KeyValuePairs = [
        "Make Go use lanyard": #"export GOAUTH="lanyard goauth""#,
        "See what Go gets": "lanyard goauth \(Example.url) </dev/null",
    ]

    @Argument(help: "The URL that Go could not load; without it, the answer is empty.") var url: String?
}
