import Rules
import Secrets
import Terminal
import TokenStore

/// Unlocks the user's keyring with a password if no window can ask for it.
struct KeyringUnlocker {
    private let keyring: KeyringConnection
    private let store: SecretServiceStore
    private let provider: KeyringProvider
    private let control: GnomeKeyringControl

    /// Finds the daemon that takes the password.
    ///
    /// - Throws: `Failure` with the remedy if only the provider's own window can unlock the keyring.
    init(_ context: CommandContext, group: String) throws(Failure) {
        keyring = context.keyring
        store = SecretServiceStore(configuration: KeyringConfiguration(keyring, group: group))
        let found: KeyringProvider?
        do { found = try keyring.provider() } catch { throw Failure(error) }
        guard let found else { throw Failure(StoreError(.noProvider)) }
        guard let name = found.programName, name == Self.daemon else {
            throw Failure(
                "the keyring belongs to \((found.programName ?? "another program").displayable(limit: 60)), "
                    + "and only that can unlock it",
                hints: ["unlock its database or wallet in its window"])
        }
        provider = found
        guard let control = GnomeKeyringControl(of: found, environment: context.environment) else {
            throw Failure(
                "\(Self.daemon) has no control socket in this session", hints: [.restartingGnomeKeyring])
        }
        self.control = control
    }

    private static let daemon = "gnome-keyring-daemon"

    /// Unlocks the keyring, and checks that it is unlocked.
    func unlock(with password: Secret) throws(Failure) {
        switch control.unlock(password, for: provider) {
        case .done?: break
        case .denied?: throw Self.wrongPassword
        case .failed?, nil:
            throw Failure(
                "\(Self.daemon) could not unlock the keyring",
                hints: [.restartingGnomeKeyring])
        }
        // The default keyring may be another one, with its own password.
        guard store.problem() == nil else {
            throw Failure(
                "the login keyring is unlocked, but the default keyring is another one",
                hints: [Hint("make the login keyring the default one, or unlock the other", run: "seahorse")])
        }
    }

    static let wrongPassword = Failure(
        "that is not the keyring's password", hints: [Hint("try again", run: "lanyard unlock")])

    /// Creates the first keyring, with this password.
    ///
    /// A daemon that creates the keyring at its control socket doesn't show it to clients, but the next one does. So the
    /// daemon ends, which has no open keyring to lose, and the new one unlocks what is on disk by then. The daemon's own
    /// command to start it with a password waits for ever where systemd listens for it.
    func make(with password: Secret, in context: CommandContext) async throws(Failure) {
        if case .done? = control.unlock(password, for: provider) {
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
        throw Failure("\(Self.daemon) did not create a keyring", hints: [.restartingGnomeKeyring])
    }

    /// The number of times to check for the keyring, ten times a second.
    private static let attempts = 50
}
