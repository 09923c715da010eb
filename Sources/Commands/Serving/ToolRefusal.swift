import AnswerCache
import CommandKit
import Glibc
import Keyring

/// A note that a running tool was refused a moment ago, so that a tool that tries again doesn't ask the user twice.
struct ToolRefusal {
    /// The lifetime of a note in milliseconds; such tools try again at once, and may run for days.
    private static let lifetime = 30_000

    private let notes: SharedNotes
    /// The tool's process.
    private let key: String

    /// Finds the note about the parent process; nil if that process can't be identified.
    init?(_ context: CommandContext) {
        let parent = getppid()
        guard let start = ProcessFields(of: parent)?.start else { return nil }
        notes = SharedNotes(environment: context.environment)
        key = "refused tool\n\(parent)\n\(start)"
    }

    /// Whether there is a note that still applies.
    var isThere: Bool { notes.happened(key, within: Self.lifetime) }

    /// Takes note of one.
    func note() { notes.noteTime(about: key) }
}
