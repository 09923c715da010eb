import Testing

@testable import Terminal

/// Text laid out for a terminal.
@Suite struct WrappedTextTests {
    private static let url = "https://dev.azure.com/contoso/a/path/that/is/longer/than/the/line"

    private static let texts: [(String, [String])] = [
        ("short", ["short"]),
        ("twenty letters and then as many again and more", ["twenty letters and then as many again", "and more"]),
        ("a word: \(url) and on", ["a word:", url, "and on"]),
        ("a\nlonger text that brought its own lines and keeps them", []),
    ]

    @Test(arguments: texts)
    func `lines end between words`(_ text: String, _ lines: [String]) {
        let wrapped = text.wrapped(columns: 40, indent: 2)
        #expect(wrapped == (lines.isEmpty ? text : lines.joined(separator: "\n  ")))
    }

    private static let hints: [(Hint, [String])] = [
        (
            Hint("to have it", run: "lanyard login URL --claims JSON"),
            ["to have it:", "lanyard login URL --claims JSON"]
        ),
        (Hint("for one", run: "lanyard login \(url) --only"), ["for one:", "lanyard login \(url) --only"]),
        (
            Hint(run: "lanyard unconfigure git && lanyard configure git"),
            ["lanyard unconfigure git && lanyard configure git"]
        ),
        (
            Hint("and name it in the rule", write: "client-id = \"1111-2222\""),
            ["and name it in the rule:", "client-id = \"1111-2222\""]
        ),
        (
            Hint("git asks whatever comes first; for lanyard alone", run: "lanyard configure git"),
            ["git asks whatever comes first; for", "lanyard alone: lanyard configure git"]
        ),
        ("read lanyard-config(5): it says what a rule is", ["read lanyard-config(5): it says what a", "rule is"]),
    ]

    @Test(arguments: hints)
    func `what is to be copied stays whole`(_ hint: Hint, _ lines: [String]) {
        #expect(hint.wrapped(columns: 40, indent: 2) == lines.joined(separator: "\n  "))
        #expect(hint.wrapped(columns: nil, indent: 2) == hint.line)
    }

    @Test func `the first line may begin elsewhere`() {
        let text = "no helper: git can't run it, whatever it is"
        #expect(text.wrapped(columns: 40, indent: 4, from: 16) == "no helper: git can't run\n    it, whatever it is")
        #expect(text.wrapped(columns: 40, indent: 0) == "no helper: git can't run it, whatever it\nis")
    }

    @Test(arguments: [nil, 0, 22, 200])
    func `nothing is broken where there is no end, or no room`(_ columns: Int?) {
        let text = "for the tenant of an organisation that nobody here knows and that is  called nothing"
        #expect(text.wrapped(columns: columns, indent: 2) == text)
    }
}
