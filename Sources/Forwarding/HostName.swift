import Glibc

/// The name that this machine calls itself.
package enum HostName {
    /// The name, as the kernel has it; nil if it can't be read.
    ///
    /// It has yet to be made fit to show.
    package static var here: String? {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
