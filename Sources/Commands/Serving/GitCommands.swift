import ArgumentParser
import CommandKit
import Rules
import Terminal
import Tools

/// The format of stdin and stdout.
private let formatNote = "In git's key=value format; see git-credential-lanyard(1)."

struct GetCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Answer the credential request on standard input.",
        usage: "lanyard get [<options>]", discussion: formatNote, shouldDisplay: false)

    static let examples: KeyValuePairs = [
        "Ask for a credential as git does": #"printf 'url=\#(Example.url)\n' | lanyard get"#
    ]

    @OptionGroup(title: "Sign-in") var interaction: InteractionOptions

    mutating func run(in context: CommandContext) async throws {
        var run = ToolRun(GitProtocol(.get), in: context, interaction.values)
        let status = await run.run()
        guard status == ExitStatus.done.rawValue else { throw ExitCode(status) }
    }
}

struct StoreCommand: ServedCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Store the password on standard input.", discussion: formatNote,
        shouldDisplay: false)

    static let examples: KeyValuePairs = [
        "Store a password from a file with url, username and password": "lanyard store <credential.txt"
    ]
}

struct EraseCommand: ServedCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase", abstract: "Forget the password or token on standard input.",
        discussion: formatNote, shouldDisplay: false)

    static let examples: KeyValuePairs = [
        "Forget a password": #"printf 'url=https://git.contoso.com\nusername=alice\n' | lanyard erase"#
    ]
}

struct CapabilityCommand: ServedCommand {
    static let configuration = CommandConfiguration(
        commandName: "capability", abstract: "List the parts of git's protocol that lanyard understands.",
        shouldDisplay: false)

    static let examples: KeyValuePairs = ["See what lanyard understands": "lanyard capability"]
}
