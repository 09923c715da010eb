internal import Synchronization

/// The Secret Service, connected to before the first operation, and a session asked for, which takes the provider longer
/// than all that is read before the session is needed.
public enum KeyringOpening {
    private static let failure = Mutex<ProviderFailure?>(nil)

    /// Connects where there is a bus to connect to, and asks for a session; a failure is the first operation's.
    ///
    /// - Parameter deadline: how many seconds each of the two may take.
    public static func begin(deadline: Double = KeyringConfiguration.defaultDeadline) {
        do throws(ProviderFailure) {
            try SessionEnvironment.process.check()
            try SecretLibrary.open()
            _ = try ProviderConnection.shared(Watchdog(seconds: deadline)).session(seconds: deadline)
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
