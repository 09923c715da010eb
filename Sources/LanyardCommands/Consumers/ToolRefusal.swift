import Addresses
import Files
import Glibc
import JSON
import TokenStore

/// What a running tool was refused a moment ago, for tools that run what failed again: nobody is asked for it twice.
struct ToolRefusal {
    /// Milliseconds for which it counts; such tools try again at once, and may run for days.
    private static let lifetime = 30_000

    private let notes: SharedNotes
    /// The tool's process; the next process with its number has started at another time.
    private let key: String

    /// What the parent process was refused; nil if that can't be known.
    init?(_ context: CommandContext) {
        let parent = getppid()
        guard let file = try? OpenFile("/proc/\(parent)/stat").contents(atMost: 4096),
            let (_, fields) = String(decoding: file, as: UTF8.self).cut(atLast: ")")
        else { return nil }
        // proc_pid_stat(5): the third field is the first here, the start is the 22nd.
        let words = fields.pieces(between: " ")
        guard words.count > 19 else { return nil }
        notes = SharedNotes(environment: context.environment)
        key = "refused tool\n\(parent)\n\(words[19])"
    }

    /// Whether there is one that counts.
    var isThere: Bool {
        guard let at = notes.note(about: key)?["at"]?.wholeNumber else { return false }
        let age = SharedNotes.milliseconds - at
        return age >= 0 && age < Self.lifetime
    }

    /// Takes note of one.
    func leave() { notes.leave(["at": .integer(Int64(SharedNotes.milliseconds))], about: key) }
}
