internal import CSecret
internal import Glibc

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

    /// The path of its program; nil if it can't be known.
    public var program: String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/\(processID)/exe", &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    /// Its program's name.
    public var programName: String? {
        program?.utf8.split(separator: UInt8(ascii: "/")).last.map { String(decoding: Array($0), as: UTF8.self) }
    }
}
