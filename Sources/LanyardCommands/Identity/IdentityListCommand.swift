import ArgumentParser
import JSON
import Rules
import Secrets
import Terminal

struct IdentityListCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the identities, and where each one is.",
        discussion: "Built-in identities come first.")

    static let examples: KeyValuePairs = [
        "See each identity's name": "lanyard identity list --json | jq --raw-output '.[].name'"
    ]

    @Flag(help: "Print JSON.")
    var json = false

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context)
        let identities = Identity.builtIn + session.configuration.identities
        let console = session.context.console
        guard !json else {
            return console.print(json: .array(identities.map(\.json)))
        }
        let columns = OutputWidth.ofTerminal
        for identity in identities {
            let isDefault = identity.name == session.configuration.defaultIdentity
            console.print(identity.name + (isDefault ? " (the default)" : ""))
            let table = Table(identity.facts(session).map { [$0, $1] }, atLeast: [9])
            for line in table.wrapped(columns: columns, indent: 4) { console.print("    \(line)") }
        }
    }
}

extension Identity {
    fileprivate func facts(_ session: Session) -> [(String, String)] {
        var facts: [(String, String)] = []
        if let application {
            facts = [
                ("authority", application.authority.displayable()), ("client ID", application.clientID.displayable()),
            ]
        }
        return facts + [("proof", proofForPeople), ("from", place(session.context))]
    }
}
