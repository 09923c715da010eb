import ArgumentParser
import CommandKit
import Keyring
import Rules
import SecretService
import Secrets
import Terminal

struct UnlockCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "unlock", abstract: "Unlock the keyring without a desktop.",
        discussion: """
            Asks for the password at a terminal, or reads it from standard input. Creates gnome-keyring's keyring if there is \
            none. For the sealed keyring and gnome-keyring; other keyring services unlock in a window of their own.
            """)

    static let examples: KeyValuePairs = [
        "Unlock it at a terminal, such as over SSH": "lanyard unlock",
        "In a systemd service, with a credential as the password": #"lanyard unlock <"$CREDENTIALS_DIRECTORY/keyring""#,
    ]

    mutating func run(in context: CommandContext) async throws {
        let session = try Session(context, options: .init(isAskedFor: true))
        let console = session.context.console
        guard session.configuration.deviceMode != .shared else {
            console.note("this device is shared: its keyring is in memory and needs no password")
            return
        }
        defer {
            if let provider = try? context.secretService?.provider() { console.warnOfRival(provider, in: context) }
        }
        guard let problem = session.store.problem() else {
            if let problem = session.store.problemOfItems() { throw CommandError(problem) }
            return console.note("the keyring is unlocked already")
        }
        guard [.locked, .noDefaultCollection].contains(problem.reason),
            problem.isOfGnomeKeyring || session.context.sealedKeyring != nil
        else {
            throw CommandError(problem)
        }
        let unlocker = try KeyringUnlocker(session.context, group: session.configuration.group)
        let input = SecretInput(name: "password", command: "lanyard unlock")
        if context.isInputTerminal {
            guard try await unlocker.openAtTerminal(context) else { throw input.missing }
        } else if problem.reason == .locked {
            try unlocker.unlock(with: try input.stdin(context.input))
        } else {
            try await unlocker.make(with: try input.stdin(context.input), in: context)
        }
        console.note(
            problem.reason == .locked ? "the keyring is unlocked" : "the keyring was created and is unlocked")
    }
}
