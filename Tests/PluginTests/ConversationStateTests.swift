import Testing

@testable import PluginHost
@testable import PluginWire

/// The interpretation of a plugin's bytes, however they are split into reads.
struct ConversationStateTests {
    private static let refusal = "event=error\ncode=throttled\nmessage=slow\n\n"
    private static let progress = "event=progress\nmessage=on it\n\n"

    private func steps(_ reads: [Substring.UTF8View]) -> [ConversationState.Step] {
        var state = ConversationState(plugin: "fake")
        let steps = reads.flatMap { state.receive(Array($0)).steps }
        return steps + [state.finish()].compactMap(\.self)
    }

    /// Whether the error in these steps is the plugin's own.
    private func isOwn(_ steps: [ConversationState.Step]) -> Bool {
        if case .end(.failed(let error))? = steps.last { error.code == .throttled } else { false }
    }

    @Test(arguments: ["no message\n", "=\n", "a=\0\n", "a=b\nno message\n\n"])
    func `what comes before a bad line counts, wherever a read ends`(_ bad: String) {
        for (text, isOwn) in [(Self.progress + bad, false), (Self.progress + Self.refusal + bad, true)] {
            let whole = steps([text[...].utf8])
            #expect(whole.first == .progress("on it") && self.isOwn(whole) == isOwn, "\(whole)")
            for index in text.utf8.indices {
                #expect(steps([text[..<index].utf8, text[index...].utf8]) == whole, "\(text[..<index])")
            }
        }
    }
}
