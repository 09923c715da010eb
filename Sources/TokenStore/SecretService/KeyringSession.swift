internal import CSecret
internal import CredentialProtocol
internal import Logging

/// The Secret Service for the length of one operation, on one thread and within one deadline.
struct KeyringSession: ~Copyable {
    let service: GRef
    let watchdog: Watchdog
    let configuration: KeyringConfiguration
    let mayPrompt: Bool
    /// What opened the connection, while it may not be done with it.
    private let opening: OpeningConnection?

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
            let opening = KeyringOpening.take()
            defer { opening?.waitForSession() }
            try opening?.waitForConnection()
            try SecretLibrary.open(logger: logger)
            let watchdog = Watchdog(seconds: configuration.deadline)
            do throws(ProviderFailure) {
                return try body(KeyringSession(configuration, watchdog, environment, opening))
            } catch  where error.isVanished {
                logger.debug("the keyring's provider vanished: \(error.storeError.detail.displayable())")
                secret_service_disconnect()
                return try body(KeyringSession(configuration, watchdog, environment, nil))
            }
        } catch {
            throw error.storeError
        }
    }

    /// To be called before secrets are read or sent, which needs a key that the provider knows.
    func prepareForSecrets() { opening?.waitForSession() }

    private init(
        _ configuration: KeyringConfiguration, _ watchdog: Watchdog, _ environment: SessionEnvironment,
        _ opening: OpeningConnection?
    ) throws(ProviderFailure) {
        let pointer = try calling { secret_service_get_sync(SECRET_SERVICE_NONE, watchdog.cancellable, $0) }
        guard let service = GRef(owned: pointer) else { throw .found(StoreError(.broken, detail: "no service")) }
        self.service = service
        self.watchdog = watchdog
        self.configuration = configuration
        self.opening = opening
        mayPrompt = configuration.mayPrompt && !environment.isRemote
    }
}
