import Keyring
import Rules
import SealedKeyring
import SecretService
package import Secrets
package import Terminal

/// Unlocks the user's keyring with a password if no window can ask for it.
package struct KeyringUnlocker {
    /// What takes the password.
    private enum Way {
        case sealed(SealedKeyring)
        case daemon(SecretServiceKeyring, KeyringProvider, GnomeKeyringControl)
    }

    private let way: Way
    private let store: RecordStore

    /// Finds what takes the password.
    ///
    /// - Throws: `CommandError` with the remedy if only the provider's own window can unlock the keyring.
    package init(_ context: CommandContext, group: String) throws(CommandError) {
        if let sealed = context.sealedKeyring {
            way = .sealed(sealed)
            store = RecordStore(configuration: KeyringConfiguration(sealed, group: group))
            return
        }
        guard let keyring = context.secretService else {
            throw CommandError("no password unlocks \(context.keyring.name)")
        }
        store = RecordStore(configuration: KeyringConfiguration(keyring, group: group))
        let found: KeyringProvider?
        do { found = try keyring.provider() } catch { throw CommandError(error) }
        guard let found else { throw CommandError(KeyringError(.noProvider)) }
        guard let name = found.programName, name == Self.daemon else {
            throw CommandError(
                "the keyring belongs to \(found.programName ?? "another program"), "
                    + "and only that can unlock it",
                hints: ["unlock its database or wallet in its window"])
        }
        guard let control = GnomeKeyringControl(of: found, environment: context.environment) else {
            throw CommandError(
                "\(Self.daemon) has no control socket in this session", hints: [.restartingGnomeKeyring])
        }
        way = .daemon(keyring, found, control)
    }

    private static let daemon = "gnome-keyring-daemon"

    /// Unlocks the keyring, and checks that it is unlocked.
    package func unlock(with password: Secret) throws(CommandError) {
        switch way {
        case .sealed(let keyring):
            do throws(KeyringError) { try keyring.unlock(password) } catch {
                throw error.reason == .denied ? Self.wrongPassword : CommandError(error)
            }
        case .daemon(_, let provider, let control): try unlock(with: password, control, provider)
        }
    }

    private func unlock(
        with password: Secret, _ control: GnomeKeyringControl, _ provider: KeyringProvider
    ) throws(CommandError) {
        switch control.unlock(password, for: provider) {
        case .done?: break
        case .denied?: throw Self.wrongPassword
        case .failed?, nil:
            throw CommandError(
                "\(Self.daemon) could not unlock the keyring",
                hints: [.restartingGnomeKeyring])
        }
        // The default keyring may be another one, with its own password.
        guard store.problem() == nil else {
            throw CommandError(
                "the login keyring is unlocked, but the default keyring is another one",
                hints: [Hint("make the login keyring the default one, or unlock the other", run: "seahorse")])
        }
    }

    private static let wrongPassword = CommandError(
        "that is not the keyring's password", hints: [Hint("try again", run: "lanyard unlock")])
    private static let passwordsDiffer = CommandError(
        "the two passwords differ", hints: [Hint("try again", run: "lanyard unlock")])
    /// The errors of a user who mistyped.
    static let retypable = [wrongPassword, passwordsDiffer]
    /// How often the user may type a password, as for sudo(8) and ssh-add(1).
    private static let tries = 3

    /// Whether there is no keyring yet, so that a password creates one.
    package var makesFirst: Bool { store.problem()?.reason == .noDefaultCollection }

    /// Opens the keyring with a password that the user types at the terminal; false if they type none.
    ///
    /// - Throws: The last try's error.
    package func openAtTerminal(_ context: CommandContext) async throws(CommandError) -> Bool {
        let prompt = Prompt(context.console)
        let makesFirst = makesFirst
        for left in (0..<Self.tries).reversed() {
            let question: Message = makesFirst ? "password of the new keyring" : "password of the keyring"
            guard let typed = await prompt.line(question, echo: false), !typed.isEmpty else { return false }
            do throws(CommandError) {
                guard makesFirst else {
                    try unlock(with: Secret(typed))
                    return true
                }
                guard let repeated = await prompt.line("repeat the password", echo: false) else { return false }
                guard typed.utf8.elementsEqual(repeated.utf8) else { throw Self.passwordsDiffer }
                try await make(with: Secret(typed), in: context)
                return true
            } catch  where left > 0 && Self.retypable.contains(error) {
                context.console.note("\(error.message); try again")
            }
        }
        return false
    }

    /// Creates the first keyring, with this password.
    ///
    /// A daemon that creates the keyring at its control socket doesn't show it to clients, but the next one does. So the
    /// daemon ends, which has no open keyring to lose, and the new one unlocks what is on disk by then. The daemon's own
    /// command to start it with a password waits for ever where systemd listens for it.
    package func make(with password: Secret, in context: CommandContext) async throws(CommandError) {
        if case .daemon(let keyring, let provider, let control) = way,
            case .done? = control.unlock(password, for: provider)
        {
            control.end(provider)
            for _ in 0..<Self.attempts {
                // Asking for the keyring's state makes the bus start the new daemon.
                guard let problem = store.problem() else { return }
                if problem.reason == .locked, let now = try? keyring.provider(), now != provider,
                    let control = GnomeKeyringControl(of: now, environment: context.environment)
                {
                    _ = control.unlock(password, for: now)
                }
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
        throw CommandError("\(Self.daemon) did not create a keyring", hints: [.restartingGnomeKeyring])
    }

    /// The number of times to check for the keyring, ten times a second.
    private static let attempts = 50
}
