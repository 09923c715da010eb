internal import CSecret
internal import CredentialProtocol
internal import Logging

/// The Secret Service for the length of one operation, on one thread and within one deadline.
struct KeyringSession: ~Copyable {
    let service: SecretServiceProxy
    let watchdog: Watchdog
    let configuration: KeyringConfiguration
    let mayPrompt: Bool
    /// The agreement on a key for secrets, where it was begun before.
    private let agreement: KeyAgreement?

    /// Runs an operation; once more where the provider vanishes during it, because one that crashed is started anew.
    ///
    /// Operations therefore have to bear being done twice.
    static func run<Result>(
        _ configuration: KeyringConfiguration, logger: Logger,
        _ body: (borrowing KeyringSession) throws(ProviderFailure) -> Result
    ) throws(StoreError) -> Result {
        do throws(ProviderFailure) {
            let environment = SessionEnvironment.process
            try environment.check()
            let agreement = try KeyringOpening.take()
            defer { agreement?.wait() }
            try SecretLibrary.open(logger: logger)
            let watchdog = Watchdog(seconds: configuration.deadline)
            do throws(ProviderFailure) {
                return try body(KeyringSession(configuration, watchdog, environment, agreement))
            } catch  where error.isVanished {
                logger.debug("the keyring's provider vanished: \(error.storeError.detail.displayable())")
                SecretServiceProxy.forget()
                return try body(KeyringSession(configuration, watchdog, environment, nil))
            }
        } catch {
            throw error.storeError
        }
    }

    /// To be called before secrets are read or sent, which needs a key that the provider knows.
    func prepareForSecrets() { agreement?.wait() }

    private init(
        _ configuration: KeyringConfiguration, _ watchdog: Watchdog, _ environment: SessionEnvironment,
        _ agreement: KeyAgreement?
    ) throws(ProviderFailure) {
        service = try SecretServiceProxy.shared(watchdog)
        self.watchdog = watchdog
        self.configuration = configuration
        self.agreement = agreement
        mayPrompt = configuration.mayPrompt && !environment.isRemote
    }
}
