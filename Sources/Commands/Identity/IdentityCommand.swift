import ArgumentParser
import CommandKit
import JSON
import Model
import Rules
import Secrets
import Terminal

struct IdentityCommand: AsyncParsableCommand, WithExamples {
    static let configuration = CommandConfiguration(
        commandName: "identity", abstract: "Manage identities: applications and machines.",
        subcommands: [
            IdentityAddCommand.self, IdentityListCommand.self, IdentityRemoveCommand.self, IdentitySecretCommand.self,
            IdentityCheckCommand.self,
        ], aliases: ["identities"])

    static let examples: KeyValuePairs = ["See the identities": "lanyard identity list"]

    /// The identity's name in examples.
    static let example = "release"
}

extension ArgumentHelp {
    /// The help for an identity's name.
    static let identityName = ArgumentHelp(
        "The identity's name, as `lanyard identity list` shows it.", valueName: "identity")
}

struct IdentityRemoveCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove an identity.",
        discussion: """
            Also removes the comment right above it; the rest of the file stays as it is. A secret in the keyring stays until \
            `lanyard identity secret --remove`, because another identity may use it.
            """)

    static let examples: KeyValuePairs = ["Remove an identity": "lanyard identity remove \(IdentityCommand.example)"]

    @Argument(help: .identityName) var name: String

    @OptionGroup var place: ScopeOptions

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context, of: place.scope)
        guard try session.tables.removeTable(where: { (identity: Identity) in identity.name == name }) else {
            throw CommandError(
                missing: "identity \(name)", session,
                elsewhere: session.configuration.identities.first { $0.name == name }, name: \.name)
        }
        session.context.console.note("removed the identity \(name) from \(session.context.short(session.tables.file))")
        try tellWhoStillNamesIt(context)
    }

    /// Lists what still names the identity, unless another file has one with the same name.
    private func tellWhoStillNamesIt(_ context: CommandContext) throws(CommandError) {
        let session = try Session(context, of: place.scope)
        let left = session.configuration
        guard !left.identities.contains(where: { $0.name == name }) else { return }
        for rule in left.rules where rule.identity == name {
            context.console.note(
                Hint("the rule for \(rule.pattern.text) still names it; edit", write: rule.place(context)))
        }
        guard left.defaultIdentity == name else { return }
        let setting = try Configuration.settings(in: context).first { $0.key == "default-identity" }
        switch setting?.origin {
        case .variable(let variable):
            context.console.note(Hint("\(variable) still names it; unset it", run: "unset \(variable)"))
        case .file(let file, _):
            context.console.note(
                Hint(
                    "default-identity still names it; unset it",
                    run:
                        "lanyard config unset\(flag: "--system", if: file == Configuration.systemFile) default-identity"
                ))
        case .builtIn, nil: break
        }
    }
}

struct IdentitySecretCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "secret", abstract: "Store an identity's client secret, or the password of its certificate.",
        discussion: """
            Asks for it at a terminal, or reads it from standard input, and keeps it in the keyring. A pipeline, which has no \
            keyring, passes it in a variable instead.
            """)

    static let examples: KeyValuePairs = [
        "Store it at a terminal": "lanyard identity secret \(IdentityCommand.example)",
        "Store it from a file": "lanyard identity secret \(IdentityCommand.example) <secret.txt",
        "Remove it": "lanyard identity secret \(IdentityCommand.example) --remove",
    ]

    @Argument(help: .identityName) var name: String

    @Flag(help: "Remove it from the keyring.")
    var remove = false

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context, options: .init(isAskedFor: true))
        let kept = try session.keptSecret(of: try session.identity(named: name))
        guard !remove else { return try await session.removeSecret(kept) }
        let secret = try await kept.typed(for: "lanyard identity secret\(last: name)", session.context)
        try await session.store(secret, as: kept)
    }
}

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
        let columns = Console.columns
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
                ("authority", application.authority), ("client ID", application.clientID),
            ]
        }
        return facts + [("proof", displayedProof.text), ("from", place(session.context))]
    }
}
