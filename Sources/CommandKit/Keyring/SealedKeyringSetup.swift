import AnswerCache
import Keyring
package import Rules
package import SealedKeyring
package import Secrets
import SettingsFile
package import Terminal

/// Makes the sealed keyring of this machine, and its protectors.
package struct SealedKeyringSetup {
    /// What notes until the next login that the user doesn't want it.
    private static let declined = "sealed keyring declined"

    private let context: CommandContext
    private let configuration: Configuration
    /// The keyring, whether it exists or is used or not.
    package let keyring: SealedKeyring

    package init(_ context: CommandContext, _ configuration: Configuration) {
        (self.context, self.configuration) = (context, configuration)
        keyring = SealedKeyring(context.environment, configuration)
    }

    /// The best protector that works here and is allowed; nil if only the user can tell one, or if none is allowed.
    package var proposal: ProtectorKind? {
        if configuration.deviceMode == .shared { return keyring.allows(.session) ? .session : nil }
        if keyring.allows(.systemd), keyring.hasSystemd { return .systemd }
        return keyring.allows(.passphrase) && keyring.hasKernelKeys ? .passphrase : nil
    }

    /// Creates the keyring with a protector, and has the configuration name it.
    package func create(_ protector: Protector) throws(CommandError) {
        do throws(KeyringError) { try keyring.create(protector) } catch { throw CommandError(protecting: error) }
        try use(.sealed)
        (context.keyring as? MachineKeyring)?.use(keyring)
        context.answers.forget()
    }

    /// Has the user's configuration name a keyring, unless it does.
    package func use(_ kind: Configuration.KeyringKind) throws(CommandError) {
        guard configuration.keyring != kind else { return }
        guard !configuration.isLocked("keyring") else { throw .locked("the keyring is") }
        guard let path = Configuration.userFile(environment: context.environment) else {
            throw CommandError("there is no place for a configuration file", hints: ["set HOME or LANYARD_CONFIG"])
        }
        do throws(SettingsError) {
            try SettingFile(reading: path).set(kind, schema: InstalledFiles(context).schema)
        } catch {
            throw CommandError(error, isSystem: false, context)
        }
    }

    /// Reads a new passphrase: twice at a terminal, else standard input.
    package func newPassphrase(for command: ShellCommand) async throws(CommandError) -> Secret {
        let input = SecretInput(name: "passphrase", command: command)
        guard context.isInputTerminal else { return try input.stdin(context.input) }
        return try await typedPassphrase(for: command)
    }

    private func typedPassphrase(for command: ShellCommand) async throws(CommandError) -> Secret {
        let prompt = Prompt(context.console)
        guard let typed = await prompt.line("new passphrase", echo: false), !typed.isEmpty,
            let again = await prompt.line("repeat the passphrase", echo: false)
        else { throw SecretInput(name: "passphrase", command: command).missing }
        guard typed.utf8.elementsEqual(again.utf8) else {
            throw CommandError("the two passphrases differ", hints: [Hint("try again", run: command)])
        }
        return Secret(typed)
    }

    /// Offers at the terminal to create the keyring, with one key to press; false if the user doesn't want it.
    package func offer() async throws(CommandError) -> Bool {
        let notes = SharedNotes(environment: context.environment)
        guard notes.note(about: Self.declined) == nil, let kind = proposal, !keyring.exists else { return false }
        let console = context.console
        console.note("there is no keyring service here; lanyard can keep secrets in sealed files instead")
        console.note(Hint("protector \(kind.rawValue): \(kind.purpose)"))
        guard await Prompt(console).decision("create the sealed keyring?", suggesting: true) == true else {
            notes.noteTime(about: Self.declined)
            return false
        }
        guard kind == .passphrase else {
            try create(kind == .systemd ? .systemd : .session)
            return true
        }
        do throws(CommandError) {
            // Standard input may be a tool's.
            try create(.passphrase(try await typedPassphrase(for: "lanyard keyring create passphrase")))
        } catch {
            console.note(error)
            return false
        }
        return true
    }
}

extension ProtectorKind {
    /// What it protects against, and what not, in a sentence.
    package var purpose: String {
        switch self {
        case .systemd:
            "nothing is asked, also after a reboot; copies of your home open nowhere else, but your programs and root can open it here"
        case .passphrase:
            "the passphrase is asked once per login; copies of your home are as safe as it is long, and your programs can open it while it is unlocked"
        case .command:
            "the keyring is as safe as what the commands use; your programs can run them, too"
        case .session:
            "everything is gone when you log out; until then, your programs and root can open it"
        }
    }
}
