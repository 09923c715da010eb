internal import Files
internal import SecretService

/// Returns the process that provides the Secret Service.
public struct KeyringProvider: Sendable, Equatable {
    /// The process ID.
    public let processID: Int32

    /// Asks the bus for the provider, without starting one; nil if none is running.
    ///
    /// This also finds a provider that hangs, because the bus answers rather than the provider.
    ///
    /// - Parameter deadline: The number of seconds that the bus may take.
    /// - Returns: The provider.
    /// - Throws: `StoreError` if the bus can't be asked.
    public static func running(deadline: Double = 2) throws(StoreError) -> KeyringProvider? {
        do throws(ServiceFailure) {
            return try KeyringSession.providerProcess(deadline: deadline).map { KeyringProvider(processID: $0) }
        } catch {
            throw StoreError(error)
        }
    }

    /// The path of its program; nil if that can't be found out.
    public var program: String? { SymbolicLink.target(of: "/proc/\(processID)/exe") }

    /// The name of its program.
    public var programName: String? {
        program?.utf8.split(separator: UInt8(ascii: "/")).last.map { String(decoding: Array($0), as: UTF8.self) }
    }
}
