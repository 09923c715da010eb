import Rules
import Secrets
import Subprocess
import SystemPackage
import Terminal
import TokenStore

/// The person's keyring, opened with its password if no window can ask for it.
struct KeyringDoor {
    private let store: SecretServiceStore
    private let provider: KeyringProvider
    private let control: GnomeKeyringControl

    /// Finds the daemon to give the password to.
    ///
    /// - Throws: `Failure` with the remedy if only the provider's own window can open the keyring.
    init(_ context: CommandContext, group: String) throws(Failure) {
        store = SecretServiceStore(configuration: KeyringConfiguration(group: group))
        let found: KeyringProvider?
        do { found = try KeyringProvider.running() } catch { throw Failure(error) }
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

    /// Unlocks the keyring, and looks whether it is open.
    func unlock(with password: Secret) throws(Failure) {
        switch control.unlock(password, for: provider) {
        case .done?: break
        case .denied?: throw Self.wrongPassword
        case .failed?, nil:
            throw Failure(
                "\(Self.daemon) could not unlock the keyring",
                hints: [.restartingGnomeKeyring])
        }
        // Another keyring may be the default one, with a password of its own.
        guard store.problem() == nil else {
            throw Failure(
                "the login keyring is unlocked, but the default keyring is another one",
                hints: [Hint("make the login keyring the default one, or unlock the other", run: "seahorse")])
        }
    }

    static let wrongPassword = Failure(
        "that is not the keyring's password", hints: [Hint("try again", run: "lanyard unlock")])

    /// Makes the first keyring, with this password.
    ///
    /// A daemon that is told by its socket makes it too, but doesn't show it to anybody; one that starts with the password
    /// does. It takes the place of the one that runs, which has no keyring open that could be missed.
    func make(with password: Secret) async throws(Failure) {
        let command = Configuration(
            executable: .path(FilePath(provider.program ?? Self.daemon)),
            arguments: ["--replace", "--unlock", "--components=secrets"],
            environment: .inherit.updating(["GNOME_KEYRING_CONTROL": control.folder]))
        _ = try? await run(command, input: .string(password.reveal()), output: .discarded, error: .discarded)
        for _ in 0..<Self.attempts {
            // Until the new daemon is on the bus, whoever asks for the state has the bus start a third.
            let now = try? KeyringProvider.running()
            if let now, now != provider, store.problem() == nil { return }
            try? await Task.sleep(for: .milliseconds(100))
        }
        throw Failure(
            "\(Self.daemon) did not create a keyring", hints: [.restartingGnomeKeyring])
    }

    /// How often it is looked whether the keyring is there, ten times a second.
    private static let attempts = 50
}
