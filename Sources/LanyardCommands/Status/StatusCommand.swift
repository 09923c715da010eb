import ArgumentParser
import JSON
import Rules
import Terminal

struct StatusCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show who is signed in, and what each rule would return.",
        discussion: """
            Uses only what is stored: starts no plugin, asks and unlocks nothing. Exit status 0: every rule would \
            answer silently; 2: a person is needed, to sign in or to unlock the keyring; 1: something is wrong.
            """)

    static let examples: KeyValuePairs = [
        "See who is signed in, and what each rule would return": "lanyard status",
        "Sign in before a long job starts, if that is necessary": """
        lanyard status \(Example.url) ||
          lanyard login \(Example.url)
        """,
    ]

    @Argument(help: "Only what this URL gets.")
    var url: String?

    @Flag(help: "Print JSON.")
    var json = false

    mutating func run(in context: CommandContext) async throws {
        let timing = DueRenewals.timing(in: context)
        let status = try Status(of: url, in: Session(context, options: .init(isInteractive: false, timing: timing)))
        let console = context.console
        if json {
            console.print(json: status.json)
        } else {
            for line in status.lines(columns: OutputWidth.ofTerminal) { console.print(line) }
            for note in status.notes { console.note(note) }
            for hint in status.hints { console.hint(hint) }
        }
        if status.exitStatus != .done { throw ExitCode(status.exitStatus.rawValue) }
    }
}
