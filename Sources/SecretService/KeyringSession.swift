internal import CGLib

/// The part of the keyring that an operation uses, and its limits.
package struct KeyringAccess: Sendable {
    /// The alias of the collection for new items.
    package var alias: String
    /// Whether items elsewhere are ignored; if so, the collection isn't created either.
    package var isConfined: Bool
    /// The number of seconds that the provider may take for one call, except for a prompt that the user answers; all
    /// calls together may take ten times as long.
    package var deadline: Double
    /// Whether the provider may prompt the user; it never does over SSH.
    package var mayPrompt: Bool

    package init(alias: String, isConfined: Bool, deadline: Double, mayPrompt: Bool) {
        self.alias = alias
        self.isConfined = isConfined
        self.deadline = deadline
        self.mayPrompt = mayPrompt
    }
}

/// A connection to the Secret Service for a single operation, on one thread and within a deadline.
package struct KeyringSession: ~Copyable {
    let provider: Provider
    let watchdog: Watchdog
    let access: KeyringAccess
    let mayPrompt: Bool

    /// Runs an operation; if the provider vanishes during it, runs it again, because a provider that crashed is
    /// restarted.
    ///
    /// Operations must therefore be safe to run twice.
    package static func run<Result>(
        _ access: KeyringAccess, _ body: (borrowing KeyringSession) throws(ServiceFailure) -> Result
    ) throws(ServiceFailure) -> Result {
        let environment = SessionEnvironment.process
        try environment.check()
        try SecretLibrary.open()
        let watchdog = Watchdog(seconds: access.deadline)
        do throws(ServiceFailure) {
            return try body(KeyringSession(access, watchdog, environment))
        } catch  where error.isVanished {
            Provider.forget()
            return try body(KeyringSession(access, watchdog, environment))
        }
    }

    /// Loads libsecret, connects and requests a session in advance; errors are left to the operation that follows.
    package static func open(deadline: Double) {
        do throws(ServiceFailure) {
            try SessionEnvironment.process.check()
            try SecretLibrary.open()
            let watchdog = Watchdog(seconds: deadline)
            try Provider.shared(watchdog).openSession(watchdog)
        } catch {
            return
        }
    }

    /// Asks the bus for the process that provides the Secret Service, without starting one; nil if none is running.
    package static func providerProcess(deadline: Double) throws(ServiceFailure) -> Int32? {
        try SessionEnvironment.process.check()
        try SecretLibrary.open()
        let watchdog = Watchdog(seconds: deadline)
        do throws(ServiceFailure) {
            return try BusConnection(watchdog).provider(watchdog)
        } catch  where error.reason == .noProvider {
            return nil
        }
    }

    private init(
        _ access: KeyringAccess, _ watchdog: Watchdog, _ environment: SessionEnvironment
    ) throws(ServiceFailure) {
        provider = try Provider.shared(watchdog)
        self.watchdog = watchdog
        self.access = access
        mayPrompt = access.mayPrompt && !environment.isRemote
    }
}
