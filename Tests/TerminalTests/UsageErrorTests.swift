import Terminal
import Testing

/// The argument parser's errors in the format of other errors.
@Suite struct UsageErrorTests {
    private static let tail = "  See 'lanyard login --help' for more information."

    @Test func `a suggestion stands in the usage's place`() {
        let message = "Unknown option '--jsn'. Did you mean '--json'?"
        let error = UsageError(message: message, text: "Error: \(message)\nUsage: lanyard login [--json]\n\(Self.tail)")
        #expect(error.message == "unknown option '--jsn'")
        #expect(error.hints == ["did you mean '--json'?", Hint("for help", run: "lanyard login --help")])
    }

    @Test func `each usage is a hint of its own`() {
        let message = "give a file, or --from and a program"
        let text =
            "Error: \(message)\nUsage: lanyard import <document>\n       lanyard import --from <program>\n\(Self.tail)"
        #expect(
            UsageError(message: message, text: text)
                == UsageError(
                    "\(message)",
                    hints: [
                        Hint("usage", write: "lanyard import <document>"),
                        Hint("usage", write: "lanyard import --from <program>"),
                        Hint("for help", run: "lanyard login --help"),
                    ]))
    }

    @Test func `many values stand in one line`() {
        let message = "The value 'x' is invalid for '--for'. Please provide one of the following:\n  - git\n  - go"
        let error = UsageError(message: message, text: "Error: \(message)\n\(Self.tail)")
        #expect(error.hints.first == "use one of the following: git, go")
    }

    @Test(arguments: ["", "Error", "Usage: ", "x\nUsage: lanyard\n  See '"])
    func `a complaint of another form is an error without what it lacks`(_ text: String) {
        #expect(UsageError(message: "Wrong\u{1B}", text: text).message == "wrong?")
    }
}
