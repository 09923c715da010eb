internal import Glibc

/// The process that a lock file names: its number stands first, as programs of many languages write it.
package enum LockHolder {
    /// The process; nil if none is named.
    package static func process(namedIn descriptor: CInt) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        let digits = bytes[..<count].prefix { (0x30...0x39).contains($0) }
        return Int32(String(decoding: digits, as: UTF8.self)).flatMap { $0 > 0 ? $0 : nil }
    }

    /// Whether the process has been stopped, by a signal or Ctrl-Z.
    package static func isStopped(_ process: Int32) -> Bool {
        guard let file = try? OpenFile("/proc/\(process)/stat"), let bytes = try? file.contents(atMost: 4096),
            let end = bytes.lastIndex(of: UInt8(ascii: ")"))
        else { return false }
        return bytes[end...].dropFirst(2).first == UInt8(ascii: "T")
    }

    /// Whether there is such a process, whoever's it is.
    package static func isAlive(_ process: Int32) -> Bool { kill(process, 0) == 0 || errno != ESRCH }
}
