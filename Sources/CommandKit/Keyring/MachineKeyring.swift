package import AnswerCache
package import Keyring
package import Rules
package import SealedKeyring
package import SecretService
import Synchronization

/// The keyring that a process uses: the Secret Service's, or lanyard's sealed one.
///
/// The configuration says which, and is read only after the keyring has begun to open; a user may have the sealed one made
/// in the middle of a command.
package final class MachineKeyring: Keyring {
    private let environment: [String: String]
    private let used = Mutex<(any Keyring)?>(nil)

    /// Decides nothing yet: a remembered answer needs no keyring.
    package init(environment: [String: String]) { self.environment = environment }

    /// The keyring; until the configuration is read, the sealed one if there is one, because most likely it is named there.
    private var current: any Keyring {
        used.withLock { used in
            if let used { return used }
            let sealed = SealedKeyring(environment: environment)
            let first: any Keyring = sealed.exists ? sealed : SecretServiceKeyring(environment: environment)
            used = first
            return first
        }
    }

    /// The Secret Service's keyring, whether it is used or not.
    package static func service(_ context: CommandContext) -> any Keyring {
        SecretServiceKeyring(environment: context.environment)
    }

    /// Uses the keyring that the configuration names.
    package func use(_ configuration: Configuration) {
        switch configuration.keyring {
        case .sealed: use(SealedKeyring(environment, configuration))
        case .secretService:
            used.withLock { if !($0 is SecretServiceKeyring) { $0 = SecretServiceKeyring(environment: environment) } }
        }
    }

    /// Uses the sealed keyring, which has just been made.
    func use(_ sealed: SealedKeyring) { used.withLock { $0 = sealed } }

    var secretService: SecretServiceKeyring? { current as? SecretServiceKeyring }
    var sealed: SealedKeyring? { current as? SealedKeyring }

    package var name: String { current.name }
    package var locks: SingleFlight { current.locks }
    package func open() { current.open() }

    package func run<Result>(
        _ configuration: KeyringConfiguration, _ body: (any KeyringSession) throws(KeyringError) -> Result
    ) throws(KeyringError) -> Result {
        try current.run(configuration, body)
    }
}

extension SealedKeyring {
    /// Creates a reference to this machine's sealed keyring as a configuration has it.
    package convenience init(_ environment: [String: String], _ configuration: Configuration) {
        self.init(
            environment: environment, unlockFor: configuration.unlockFor, allowed: configuration.sealedKeyringProtectors
        )
    }
}

extension CommandContext {
    /// The Secret Service's keyring, if that is used, for what only that has.
    package var secretService: SecretServiceKeyring? { (keyring as? MachineKeyring)?.secretService }
    /// The sealed keyring, if that is used.
    package var sealedKeyring: SealedKeyring? { (keyring as? MachineKeyring)?.sealed }

    /// Uses the keyring that the configuration names.
    package func use(_ configuration: Configuration) { (keyring as? MachineKeyring)?.use(configuration) }
}
