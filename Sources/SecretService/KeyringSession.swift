internal import CGLib

/// What of the keyring an operation uses, and how.
package struct KeyringAccess: Sendable {
    /// The alias of the collection where new items go.
    package var alias: String
    /// Whether items elsewhere don't count; such a collection is not made either.
    package var isConfined: Bool
    /// How many seconds the provider may take for one call, but for a prompt that a person answers; ten times as many for all calls.
    package var deadline: Double
    /// Whether the provider may ask the person; it never does over SSH.
    package var mayPrompt: Bool

    package init(alias: String, isConfined: Bool, deadline: Double, mayPrompt: Bool) {
        self.alias = alias
        self.isConfined = isConfined
        self.deadline = deadline
        self.mayPrompt = mayPrompt
    }
}

/// The Secret Service for the length of one operation, on one thread and within a deadline.
package struct KeyringSession: ~Copyable {
    let provider: Provider
    let watchdog: Watchdog
    let access: KeyringAccess
    let mayPrompt: Bool

    /// Runs an operation; once more if the provider vanishes during it, because one that crashed is started anew.
    ///
    /// Operations therefore have to bear being done twice.
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

    /// Loads libsecret, connects and asks for a session, for an operation to come; a failure is left to that.
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

    /// Asks the bus for the process that provides the Secret Service, without starting one; nil if none runs.
    package static func providerProcess(deadline: Double) throws(ServiceFailure) -> Int32? {
        try SessionEnvironment.process.check()
        try SecretLibrary.open()
        let watchdog = Watchdog(seconds: deadline)
        do throws(ServiceFailure) {
            return try SessionBus(watchdog).provider(watchdog)
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
