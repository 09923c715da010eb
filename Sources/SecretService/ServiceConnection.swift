internal import Synchronization

/// The connection to the Secret Service, which all operations share; it is made when it is first needed.
package final class ServiceConnection: Sendable {
    private let environment: SessionEnvironment
    private let connected = Mutex<Provider?>(nil)

    /// Creates a connection without contacting anything.
    ///
    /// `environment` must be the process's own, because that is what GLib and libsecret read.
    package init(environment: [String: String]) { self.environment = SessionEnvironment(variables: environment) }

    /// Runs an operation; if the provider vanishes during it, runs it again, because a provider that crashed is
    /// restarted.
    ///
    /// Operations must therefore be safe to run twice.
    package func run<Result>(
        _ access: KeyringAccess, _ body: (borrowing KeyringSession) throws(ServiceFailure) -> Result
    ) throws(ServiceFailure) -> Result {
        try prepare()
        let watchdog = Watchdog(seconds: access.deadline)
        do throws(ServiceFailure) {
            return try body(session(access, watchdog))
        } catch  where error.isVanished {
            // Another process provides the service now.
            connected.withLock { $0 = nil }
            return try body(session(access, watchdog))
        }
    }

    private func session(_ access: KeyringAccess, _ watchdog: Watchdog) throws(ServiceFailure) -> KeyringSession {
        KeyringSession(
            provider: try provider(watchdog), watchdog: watchdog, access: access,
            mayPrompt: access.mayPrompt && !environment.isRemote)
    }

    /// Loads libsecret, connects and requests a session in advance; errors are left to the operation that follows.
    package func open(deadline: Double) {
        do throws(ServiceFailure) {
            try prepare()
            let watchdog = Watchdog(seconds: deadline)
            try provider(watchdog).openSession(watchdog)
        } catch {
            return
        }
    }

    /// Asks the bus for the process that provides the Secret Service, without starting one; nil if none is running.
    package func providerProcess(deadline: Double) throws(ServiceFailure) -> Int32? {
        try prepare()
        let watchdog = Watchdog(seconds: deadline)
        do throws(ServiceFailure) {
            return try BusConnection(watchdog).provider(watchdog)
        } catch  where error.reason == .noProvider {
            return nil
        }
    }

    private func prepare() throws(ServiceFailure) {
        try environment.check()
        try SecretLibrary.open()
    }

    private func provider(_ watchdog: borrowing Watchdog) throws(ServiceFailure) -> Provider {
        if let provider = connected.withLock(\.self) { return provider }
        let provider = try Provider(watchdog)
        connected.withLock { $0 = provider }
        return provider
    }
}
