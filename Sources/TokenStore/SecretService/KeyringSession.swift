internal import CSecret
internal import Secrets

/// The Secret Service for the length of one operation, on one thread and within one deadline.
struct KeyringSession: ~Copyable {
    let provider: ProviderConnection
    let watchdog: Watchdog
    let configuration: KeyringConfiguration
    let mayPrompt: Bool

    /// Runs an operation; once more where the provider vanishes during it, because one that crashed is started anew.
    ///
    /// Operations therefore have to bear being done twice.
    static func run<Result>(
        _ configuration: KeyringConfiguration,
        _ body: (borrowing KeyringSession) throws(ProviderFailure) -> Result
    ) throws(StoreError) -> Result {
        do throws(ProviderFailure) {
            let environment = SessionEnvironment.process
            try environment.check()
            try KeyringOpening.check()
            try SecretLibrary.open()
            let watchdog = Watchdog(seconds: configuration.deadline)
            do throws(ProviderFailure) {
                return try body(KeyringSession(configuration, watchdog, environment))
            } catch  where error.isVanished {
                ProviderConnection.forget()
                return try body(KeyringSession(configuration, watchdog, environment))
            }
        } catch {
            throw error.storeError
        }
    }

    private init(
        _ configuration: KeyringConfiguration, _ watchdog: Watchdog, _ environment: SessionEnvironment
    ) throws(ProviderFailure) {
        provider = try ProviderConnection.shared(watchdog)
        self.watchdog = watchdog
        self.configuration = configuration
        mayPrompt = configuration.mayPrompt && !environment.isRemote
    }
}
