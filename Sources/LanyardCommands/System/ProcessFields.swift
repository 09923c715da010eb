import Addresses
import Files
import Glibc

/// What the kernel says of a process, in proc_pid_stat(5)'s fields behind the name.
struct ProcessFields {
    private let words: [Substring]

    /// Nil if the process has gone.
    init?(of process: pid_t) {
        guard let file = try? OpenFile("/proc/\(process)/stat").contents(atMost: 4096),
            let (_, fields) = String(decoding: file, as: UTF8.self).cut(atLast: ")")
        else { return nil }
        words = fields.pieces(between: " ")
    }

    /// The parent; 0 for the first of a container's.
    var parent: pid_t? { field(4).flatMap { pid_t($0) } }

    /// When it started: the next process with its number has started at another time.
    var start: Substring? { field(22) }

    /// A field, counted as there; the name in parentheses is the second.
    private func field(_ number: Int) -> Substring? { words.count > number - 3 ? words[number - 3] : nil }
}
