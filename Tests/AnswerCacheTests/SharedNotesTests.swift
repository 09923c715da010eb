import AnswerCache
import JSON
import TestSupport
import Testing

/// What the processes of one user tell each other.
@Suite struct SharedNotesTests {
    @Test func `what happened counts for its time, whatever a note says`() async throws {
        try await ScratchDirectory.with { scratch in
            let notes = SharedNotes(in: scratch.path)
            #expect(!notes.happened("a", within: 600_000))
            notes.noteTime(about: "a")
            #expect(notes.happened("a", within: 600_000) && !notes.happened("a", within: 0))
            #expect(!notes.happened("b", within: 600_000))
            for at in [.integer(.min), .integer(.max), .number(-9.2e18), "-9223372036854775808", "soon"] as [JSONValue]
            {
                notes.write(["at": at], about: "a")
                #expect(!notes.happened("a", within: 600_000), "\(at)")
            }
        }
    }
}
