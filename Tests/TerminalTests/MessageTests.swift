import Terminal
import Testing

/// Messages, hints and tables: text from outside is harmless in them, whoever puts it there.
@Suite struct MessageTests {
    private static let hostile = "\u{1B}[2J\u{202E}\n\u{2028}" + String(repeating: "x", count: 3000)

    @Test func `what is put into a message becomes displayable and is cut, and its own text stays`() {
        let message: Message = "first\nsecond: \(Self.hostile); end"
        #expect(message.text == "first\nsecond: ?[2J???\(String(repeating: "x", count: 493))…; end")
        #expect("\(Self.hostile, limit: 6)!" as Message == "?[2J??…!")
        #expect("\(message)" as Message == message)
        #expect(message + "." == "\(message).")
    }

    @Test func `a command in a message stays whole`() {
        let path = "/" + String(repeating: "long", count: 300)
        #expect(("run \(ShellCommand(words: ["rm", path]))" as Message).text == "run rm \(path)")
    }

    @Test func `hints and errors take messages`() {
        #expect(Hint("\(Self.hostile)").line.hasPrefix("?[2J???x"))
        #expect(Hint(write: Self.hostile).line == "?[2J???" + String(repeating: "x", count: 3000))
        #expect(("\(Self.hostile)" as Hint).line == Hint("\(Self.hostile)").line)
        #expect(CommandError("\(Self.hostile)").message.text.hasPrefix("?[2J???x"))
    }

    @Test func `the cells of a table are displayable`() {
        let lines = Table([["name", Self.hostile], ["\u{7}bell", "b"]]).wrapped(columns: nil, indent: 0)
        #expect(lines.count == 2 && lines[0].hasPrefix("name   ?[2J???x") && lines[0].hasSuffix("x…"), "\(lines)")
        #expect(lines[1] == "?bell  b")
    }
}
