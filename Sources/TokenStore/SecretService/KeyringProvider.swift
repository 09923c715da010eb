internal import CSecret

/// The process that provides the Secret Service.
public struct KeyringProvider: Sendable, Equatable {
    /// Its process identifier.
    public let processID: Int32

    /// Asks the bus for it, without starting one; nil where none runs.
    ///
    /// A provider that hangs is found too: the bus answers, and not the provider.
    ///
    /// - Parameter deadline: how many seconds the bus has.
    /// - Returns: the provider.
    /// - Throws: `StoreError` where the bus can't be asked.
    public static func running(deadline: Double = 2) throws(StoreError) -> KeyringProvider? {
        do throws(ProviderFailure) {
            try SessionEnvironment.process.check()
            try SecretLibrary.open()
            try SecretLibrary.openForChanges()
            let watchdog = Watchdog(seconds: deadline)
            let reply = try ProviderConnection.shared(watchdog).begin(
                "GetConnectionUnixProcessID", to: "org.freedesktop.DBus", of: "org.freedesktop.DBus",
                at: "/org/freedesktop/DBus", [.text(ProviderConnection.name)], giving: "(u)",
                .until(cancelled: watchdog.cancellable)
            ).wait()
            guard let number = reply?.child(0)?.smallNumber else { return nil }
            return KeyringProvider(processID: Int32(bitPattern: number))
        } catch {
            guard error.storeError.reason != .noProvider else { return nil }
            throw error.storeError
        }
    }
}
