internal import Synchronization

/// The Secret Service, connected to before the first operation, and a session asked for, which takes the provider longer
/// than all that is read before the session is needed.
public enum KeyringOpening {
    private static let failure = Mutex<ProviderFailure?>(nil)

    /// Connects where there is a bus to connect to, and asks for a session; a failure is the first operation's.
    ///
    /// - Parameter deadline: how many seconds each of the two may take.
    public static func begin(deadline: Double = KeyringConfiguration.defaultDeadline) {
        connect(deadline) { connection throws(ProviderFailure) in _ = try connection.session(seconds: deadline) }
    }

    /// Connects, searches for a password that is likely not to be there, and asks whether the person's keyring is locked:
    /// no session is asked for, which would be in vain.
    public static func begin(lookingFor query: PasswordQuery, deadline: Double = KeyringConfiguration.defaultDeadline) {
        connect(deadline) { connection throws(ProviderFailure) in
            try connection.beginSearch(
                query.searchAttributes, collection: KeyringConfiguration.Collection.default.aliasPath,
                .seconds(deadline))
        }
    }

    private static func connect(
        _ deadline: Double, _ body: (ProviderConnection) throws(ProviderFailure) -> Void
    ) {
        do throws(ProviderFailure) {
            try SessionEnvironment.process.check()
            try SecretLibrary.open()
            try body(ProviderConnection.shared(Watchdog(seconds: deadline)))
        } catch {
            failure.withLock { $0 = error }
        }
    }

    /// Throws what was in the way, once.
    static func check() throws(ProviderFailure) {
        let failure = failure.withLock { failure in
            defer { failure = nil }
            return failure
        }
        if let failure { throw failure }
    }
}
