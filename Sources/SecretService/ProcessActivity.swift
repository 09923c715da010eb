internal import Glibc

/// What a process has done so far, which tells one that is busy with other clients from one that hangs.
struct ProcessActivity {
    /// The time that it has computed, in ticks of the clock.
    private let ticks: UInt64
    /// The state's letter in proc(5).
    private let state: UInt8

    /// Ticks of a hundredth of a second each, as a rule; fewer are what a process does that only waits.
    private static let least: UInt64 = 3

    /// Looks at a process; nil if it is gone or hidden.
    init?(of process: Int32) {
        guard let text = Self.contents(of: "/proc/\(process)/stat"), let end = text.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let fields = text[(end + 1)...].split(separator: UInt8(ascii: " "))
        guard fields.count > 12, let letter = fields[0].first,
            let user = UInt64(String(decoding: fields[11], as: UTF8.self)),
            let system = UInt64(String(decoding: fields[12], as: UTF8.self))
        else { return nil }
        state = letter
        ticks = user &+ system
    }

    /// Whether it works on something, going by what it had done before.
    func isBusy(since before: ProcessActivity?) -> Bool {
        if let before, ticks >= before.ticks + Self.least { return true }
        // Computing, or waiting for a disk.
        return state == UInt8(ascii: "R") || state == UInt8(ascii: "D")
    }

    private static func contents(of path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 2048)
        let count = read(file, &bytes, bytes.count)
        return count > 0 ? Array(bytes[..<count]) : nil
    }
}
