import AnswerCache
public import ArgumentParser
import CommandKit
import JSON
import Keyring
public import Rules
public import SealedKeyring
import SecretService
import Secrets
import Terminal

struct KeyringCommand: AsyncParsableCommand, WithExamples {
    static let configuration = CommandConfiguration(
        commandName: "keyring", abstract: "Manage lanyard's sealed keyring.",
        discussion: """
            A machine without a keyring service, such as a server, WSL or a container, can keep secrets in sealed files \
            instead. They are encrypted with a key, which protectors keep. `lanyard lock` makes all programs forget the key, \
            and `lanyard unlock` asks for its passphrase.
            """,
        subcommands: [
            KeyringCreateCommand.self, KeyringStatusCommand.self, KeyringProtectCommand.self, KeyringMoveCommand.self,
            KeyringDeleteCommand.self,
        ])

    static let examples: KeyValuePairs = ["Create it with the best protector here": "lanyard keyring create"]
}

extension ProtectorKind: ExpressibleByArgument {}

/// What a new slot is made with.
struct ProtectorOptions: ParsableArguments {
    @Option(help: ArgumentHelp("For command: reads the key, prints it wrapped.", valueName: "command"))
    var wrap: String?

    @Option(help: ArgumentHelp("For command: reads the wrapped key, prints the key.", valueName: "command"))
    var unwrap: String?

    func validate(_ kind: ProtectorKind?) throws {
        guard kind == .command else {
            if wrap != nil || unwrap != nil {
                throw ValidationError("--wrap and --unwrap are for the protector command")
            }
            return
        }
        for (name, text) in [("wrap", wrap), ("unwrap", unwrap)]
        where text.flatMap(ShellWords.split)?.isEmpty != false {
            throw ValidationError("the protector command needs --\(name) with a command")
        }
    }

    func protector(
        _ kind: ProtectorKind, _ setup: SealedKeyringSetup, _ command: ShellCommand
    ) async throws(CommandError) -> Protector {
        switch kind {
        case .systemd: .systemd
        case .session: .session
        case .command:
            .command(
                wrap: wrap.flatMap(ShellWords.split) ?? [], unwrap: unwrap.flatMap(ShellWords.split) ?? [])
        case .passphrase: .passphrase(try await setup.newPassphrase(for: command))
        }
    }
}

struct KeyringCreateCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Create the sealed keyring of this machine.",
        usage: "lanyard keyring create [<options>] [<protector>]",
        discussion: """
            The protector is systemd (asks nothing), passphrase (asks once per login), command (your own), or session (until \
            you log out). Without one, lanyard takes the best that works here. Your configuration then names the sealed keyring.
            """)

    static let examples: KeyValuePairs = [
        "Create it with the best protector here": "lanyard keyring create",
        "Let two programs of yours wrap its key":
            "lanyard keyring create command --wrap /opt/wrap --unwrap /opt/unwrap",
    ]

    @Argument(help: "The protector: systemd, passphrase, command or session.")
    var kind: ProtectorKind?

    @OptionGroup var options: ProtectorOptions

    @Flag(name: .shortAndLong, help: "Don't ask whether the proposed protector is right.")
    var yes = false

    mutating func validate() throws { try options.validate(kind) }

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context, options: .init(isAskedFor: true), isToBeWritten: true)
        let setup = SealedKeyringSetup(context, session.configuration)
        let console = context.console
        guard !setup.keyring.exists else {
            try setup.use(.sealed)
            console.note("the sealed keyring exists already")
            return console.hint(Hint("to add a protector", run: "lanyard keyring protect passphrase"))
        }
        guard let kind = kind ?? setup.proposal else {
            throw CommandError(
                "no protector works here by itself: there is no systemd 256, and the kernel keeps no keys",
                hints: [Hint("choose commands that wrap the key", run: "lanyard help keyring create")])
        }
        console.note(Hint("protector \(kind.rawValue): \(kind.purpose)"))
        if self.kind == nil, !yes, context.isInputTerminal {
            guard await Prompt(console).decision("create the keyring with it?", suggesting: true) == true else {
                console.note("nothing was created")
                return console.hint(Hint("for another one", run: "lanyard help keyring create"))
            }
        }
        try setup.create(try await options.protector(kind, setup, "lanyard keyring create passphrase"))
        console.note("the sealed keyring was created, and is used from now on")
    }
}

struct KeyringProtectCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "protect", abstract: "Add, replace or remove a protector of the sealed keyring.",
        usage: "lanyard keyring protect [<options>] <protector>",
        discussion: "Any one of its protectors opens the keyring. Stored items aren't touched.")

    static let examples: KeyValuePairs = [
        "Also open it with a passphrase": "lanyard keyring protect passphrase",
        "No longer open it without asking": "lanyard keyring protect --remove systemd",
    ]

    @Argument(help: "The protector: systemd, passphrase, command or session.")
    var kind: ProtectorKind

    @OptionGroup var options: ProtectorOptions

    @Flag(help: "Remove it instead.")
    var remove = false

    mutating func validate() throws { if !remove { try options.validate(kind) } }

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context, options: .init(isAskedFor: true))
        let setup = SealedKeyringSetup(context, session.configuration)
        let console = context.console
        if remove {
            try session.keeping { () throws(KeyringError) in try setup.keyring.unprotect(kind) }
            console.note("\(kind.rawValue) no longer opens the keyring")
            if try session.keeping({ () throws(KeyringError) in try setup.keyring.state().protectors }) == [.session] {
                console.note(Hint("protector session: \(ProtectorKind.session.purpose)"))
            }
            return
        }
        let protector = try await options.protector(kind, setup, "lanyard keyring protect passphrase")
        do throws(KeyringError) { try setup.keyring.protect(protector) } catch { throw CommandError(protecting: error) }
        let protectors = try session.keeping { () throws(KeyringError) in try setup.keyring.state().protectors }
        guard kind == .session, protectors.count > 1 else {
            return console.note(Hint("protector \(kind.rawValue): \(kind.purpose)"))
        }
        console.note("protector session: until you log out, nothing is asked; the other protectors open it after that")
    }
}

struct KeyringStatusCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the keyring that is used, and the sealed one's state.")

    static let examples: KeyValuePairs = ["See its protectors": "lanyard keyring status"]

    @Flag(help: "Print JSON.")
    var json = false

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context)
        let keyring = SealedKeyring(context.environment, session.configuration)
        let console = context.console
        let used = session.configuration.keyring
        guard keyring.exists else {
            if json {
                return console.print(json: ["used": .string(used.rawValue), "sealed": .null])
            }
            console.print("used: \(used.rawValue)")
            console.print("sealed keyring: none on this machine")
            let others = keyring.ofOtherMachines
            if others > 0 {
                console.print("of other machines: \(others), which are kept; each machine has its own")
            }
            return console.hint(Hint("create one", run: "lanyard keyring create"))
        }
        let state = try session.keeping { () throws(KeyringError) in try keyring.state() }
        let problem = state.problem.map { CommandError($0) }
        if json {
            return console.print(json: [
                "used": .string(used.rawValue),
                "sealed": [
                    "path": JSONValue(keyring.path), "protectors": JSONValue(strings: state.protectors.map(\.rawValue)),
                    "unlocked": .bool(problem == nil && !state.isLost), "items": JSONValue(state.items),
                    "problem": JSONValue(problem?.message.text),
                    "unopened": .array(
                        state.unopened.map { ["name": .string($0.name), "reason": .string($0.reason)] }),
                    "of-other-machines": JSONValue(keyring.ofOtherMachines),
                ],
            ])
        }
        console.print("used: \(used.rawValue)")
        console.print("sealed keyring: \(context.short(keyring.path ?? ""))")
        console.print("protectors: \(state.protectors.map(\.rawValue).joined(separator: ", "))")
        if let problem {
            console.print("state: \(problem.message)")
            for hint in problem.hints where hint.copied != "lanyard keyring status" { console.hint(hint) }
        } else if state.isLost {
            console.print("state: the session that held its key has ended, and so it is empty")
        } else {
            console.print("state: unlocked, \(state.items ?? 0) \(state.items == 1 ? "item" : "items")")
        }
        for file in state.unopened { console.print("not opened: \(file.name.displayable()) \(file.reason)") }
    }
}

struct KeyringMoveCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "move", abstract: "Move everything to the other keyring, and use that.",
        usage: "lanyard keyring move [--yes] <keyring>",
        discussion: """
            Moves sign-ins, tokens, client secrets and git's passwords. Each is stored and compared before anything is deleted. \
            If it is interrupted, run it again.
            """)

    static let examples: KeyValuePairs = [
        "Go over to the sealed keyring": "lanyard keyring move sealed",
        "Go back to the desktop's": "lanyard keyring move secret-service",
    ]

    @Argument(help: "The keyring to move to: sealed or secret-service.")
    var kind: Configuration.KeyringKind

    @Flag(name: .shortAndLong, help: "Don't ask.")
    var yes = false

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context, options: .init(isAskedFor: true), isToBeWritten: true)
        let setup = SealedKeyringSetup(context, session.configuration)
        let console = context.console
        let service = MachineKeyring.service(context)
        let move = KeyringMove(
            from: kind == .sealed ? service : setup.keyring, to: kind == .sealed ? setup.keyring : service,
            group: session.configuration.group)
        guard setup.keyring.exists else {
            throw CommandError(
                "this machine has no sealed keyring", hints: [Hint("create it", run: "lanyard keyring create")])
        }
        let count = try session.keeping { () throws(KeyringError) in try move.count() }
        if count > 0, !yes {
            let act: Message = "move \(count) items"
            guard
                try await Prompt(console).confirmed(
                    "\(act)?", to: act, suggesting: true, isSomebodyThere: context.isInputTerminal)
            else { return console.note("nothing was moved") }
        }
        context.answers.forget()
        try session.keeping { () throws(KeyringError) in try move.copy() }
        try setup.use(kind)
        try session.keeping { () throws(KeyringError) in try move.delete() }
        context.answers.forget()
        console.note("moved \(count) \(count == 1 ? "item" : "items"); the keyring in use is \(kind.rawValue)")
    }
}

extension Configuration.KeyringKind: ExpressibleByArgument {}

struct KeyringDeleteCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete the sealed keyring of this machine, with all that is in it.",
        discussion:
            "Authorities aren't notified, so their sessions stay. Your configuration names the Secret Service again.")

    static let examples: KeyValuePairs = ["Delete it, without asking": "lanyard keyring delete --yes"]

    @Flag(name: .shortAndLong, help: "Don't ask.")
    var yes = false

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context, options: .init(isAskedFor: true), isToBeWritten: true)
        let setup = SealedKeyringSetup(context, session.configuration)
        let console = context.console
        guard setup.keyring.exists else { return console.note("this machine has no sealed keyring") }
        if !yes {
            let question: Message = "delete the sealed keyring, with all sign-ins and passwords in it?"
            guard
                try await Prompt(console).confirmed(
                    question, to: "delete the keyring", isSomebodyThere: context.isInputTerminal)
            else { return console.note("nothing was deleted") }
        }
        context.answers.forget()
        try session.keeping { () throws(KeyringError) in try setup.keyring.delete() }
        try setup.use(.secretService)
        console.note("the sealed keyring was deleted")
    }
}

struct LockCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "lock", abstract: "Lock the keyring.",
        discussion: """
            Also forgets all remembered answers. Nothing has the sealed keyring's key any more. A keyring whose protector asks nothing opens \
            again when it is needed; one with no protector but session loses what it has, and asks you at a terminal before.
            """, shouldDisplay: false)

    static let examples: KeyValuePairs = ["Lock it before you leave": "lanyard lock"]

    mutating func run(in context: CommandContext) async throws {
        // Also if the configuration can't be read.
        context.answers.forget()
        let session = try Session(context)
        let console = context.console
        if let lost = try? session.context.sealedKeyring?.itemsLostByLocking(), lost > 0 {
            let (count, them): (Message, Message) = lost == 1 ? ("1 item", "it") : ("\(lost) items", "them")
            console.note(
                "only this session has the key of the sealed keyring: locking it loses \(count), passwords included")
            if context.isInputTerminal, await Prompt(console).decision("lose \(them)?", suggesting: false) != true {
                console.note("the keyring was not locked")
                return console.hint(Hint("to keep \(them), add a protector", run: "lanyard keyring protect passphrase"))
            }
        }
        try session.keeping { () throws(KeyringError) in
            if let sealed = session.context.sealedKeyring {
                try sealed.lock()
            } else {
                try session.context.secretService?.lock(session.store.configuration)
            }
        }
        console.note("the keyring is locked")
    }
}
