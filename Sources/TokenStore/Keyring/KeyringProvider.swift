internal import Files
internal import SecretService

/// The process that provides the Secret Service.
public struct KeyringProvider: Sendable, Equatable {
    /// Its process identifier.
    public let processID: Int32

    /// Asks the bus for it, without starting one; nil if none runs.
    ///
    /// A provider that hangs is found too: the bus answers, and not the provider.
    ///
    /// - Parameter deadline: how many seconds the bus has.
    /// - Returns: the provider.
    /// - Throws: `StoreError` if the bus can't be asked.
    public static func running(deadline: Double = 2) throws(StoreError) -> KeyringProvider? {
        do throws(ServiceFailure) {
            return try KeyringSession.providerProcess(deadline: deadline).map { KeyringProvider(processID: $0) }
        } catch {
            throw StoreError(error)
        }
    }

    /// The path of its program; nil if it can't be known.
    public var program: String? { SymbolicLink.target(of: "/proc/\(processID)/exe") }

    /// Its program's name.
    public var programName: String? {
        program?.utf8.split(separator: UInt8(ascii: "/")).last.map { String(decoding: Array($0), as: UTF8.self) }
    }
}
