internal import Files

/// The process that provides the Secret Service.
public struct KeyringProvider: Sendable, Equatable {
    /// The process ID.
    public let processID: Int32

    /// The path of its program; nil if that can't be found out.
    public var program: String? { SymbolicLink.target(of: "/proc/\(processID)/exe") }

    /// The name of its program.
    public var programName: String? {
        program?.utf8.split(separator: UInt8(ascii: "/")).last.map { String(decoding: Array($0), as: UTF8.self) }
    }
}
