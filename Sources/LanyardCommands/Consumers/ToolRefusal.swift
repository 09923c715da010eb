import Glibc
import TokenStore

/// What a running tool was refused a moment ago, for tools that run what failed again: nobody is asked for it twice.
struct ToolRefusal {
    /// Milliseconds for which it counts; such tools try again at once, and may run for days.
    private static let lifetime = 30_000

    private let notes: SharedNotes
    /// The tool's process.
    private let key: String

    /// What the parent process was refused; nil if that can't be known.
    init?(_ context: CommandContext) {
        let parent = getppid()
        guard let start = ProcessFields(of: parent)?.start else { return nil }
        notes = SharedNotes(environment: context.environment)
        key = "refused tool\n\(parent)\n\(start)"
    }

    /// Whether there is one that counts.
    var isThere: Bool { notes.happened(key, within: Self.lifetime) }

    /// Takes note of one.
    func leave() { notes.leaveTime(about: key) }
}
