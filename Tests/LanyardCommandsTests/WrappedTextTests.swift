import Testing

@testable import LanyardCommands

/// Text laid out for a terminal.
@Suite struct WrappedTextTests {
    private static let url = "https://dev.azure.com/contoso/a/path/that/is/longer/than/the/line"

    private static let texts: [(String, [String])] = [
        ("short", ["short"]),
        ("twenty letters and then as many again and more", ["twenty letters and then as many again", "and more"]),
        ("a word: \(url) and on", ["a word:", url, "and on"]),
        ("to have it: lanyard login URL --claims JSON", ["to have it:", "lanyard login URL --claims JSON"]),
        ("for one: lanyard login \(url) --only", ["for one:", "lanyard login \(url) --only"]),
        (
            "she stays; to use it: lanyard use alice, or to sign it out: lanyard logout alice",
            ["she stays; to use it:", "lanyard use alice, or to sign it out:", "lanyard logout alice"]
        ),
        ("lanyard unconfigure git && lanyard configure git", ["lanyard unconfigure git && lanyard configure git"]),
        (
            "and name it in the rule: client-id = \"1111-2222\"",
            ["and name it in the rule:", "client-id = \"1111-2222\""]
        ),
        (
            "git asks whatever comes first; for lanyard alone: lanyard configure git",
            ["git asks whatever comes first; for", "lanyard alone: lanyard configure git"]
        ),
        ("a\nlonger text that brought its own lines and keeps them", []),
    ]

    @Test(arguments: texts)
    func `lines end between words, and what is to be copied stays whole`(_ text: String, _ lines: [String]) {
        let wrapped = text.wrapped(columns: 40, indent: 2, keepsCommands: true)
        #expect(wrapped == (lines.isEmpty ? text : lines.joined(separator: "\n  ")))
    }

    @Test func `the first line may begin elsewhere, and prose takes no heed of commands`() {
        let text = "no helper: git can't run it, whatever it is"
        #expect(text.wrapped(columns: 40, indent: 4, from: 16) == "no helper: git can't run\n    it, whatever it is")
        #expect(text.wrapped(columns: 40, indent: 0) == "no helper: git can't run it, whatever it\nis")
    }

    @Test(arguments: [nil, 0, 22, 200])
    func `nothing is broken where there is no end, or no room`(_ columns: Int?) {
        let text = "for the tenant of an organisation that nobody here knows: lanyard login URL"
        #expect(text.wrapped(columns: columns, indent: 2, keepsCommands: true) == text)
    }
}
