internal import CSecret
internal import Logging
internal import Synchronization

/// The Secret Service, connected to before the first operation, and the key for secrets, agreed on meanwhile.
///
/// A third of the time that a stored credential takes goes by while libsecret and the provider compute the key. Whoever
/// knows that the keyring will be needed begins it, and reads the configuration beside it. The connection is made before
/// that: to load libraries beside a busy thread takes so much longer that nothing would be won.
public enum KeyringOpening {
    private static let begun = Mutex<Result<KeyAgreement, ProviderFailure>?>(nil)

    /// Connects where there is a bus to connect to, and asks for a key; a failure is the first operation's.
    ///
    /// - Parameter deadline: how many seconds each of the two may take.
    public static func begin(deadline: Double = KeyringConfiguration.defaultDeadline) {
        let result = Result { () throws(ProviderFailure) in
            try SessionEnvironment.process.check()
            try SecretLibrary.open()
            let agreement = KeyAgreement(try SecretServiceProxy.shared(Watchdog(seconds: deadline)), deadline: deadline)
            agreement.start()
            return agreement
        }
        begun.withLock { $0 = result }
    }

    /// Takes over what was begun; nil where nothing was, or it was taken over before.
    static func take() throws(ProviderFailure) -> KeyAgreement? {
        try begun.withLock { result in
            defer { result = nil }
            return result
        }?.get()
    }
}
