import Testing

@testable import Terminal

/// Keys as a terminal sends them.
@Suite struct LineEditorTests {
    /// Types the keys; returns the last outcome and the echo.
    private func type(_ keys: String, longest: Int = 100) -> (last: LineEditor.Effect?, echo: String) {
        var editor = LineEditor(longest: longest)
        var last: LineEditor.Effect?
        var echo: [UInt8] = []
        for byte in keys.utf8 {
            last = editor.receive(byte)
            if case .more(let shown)? = last { echo += shown }
        }
        return (last, String(decoding: echo, as: UTF8.self))
    }

    private static let lines: [(String, String)] = [
        ("hello\r", "hello"), ("hello\n", "hello"), ("hexx\u{7F}\u{8}llo\r", "hello"), ("\u{7F}\u{7F}a\r", "a"),
        ("one two\u{17}three\r", "one three"), ("one two  \u{17}\r", "one "), ("one\u{17}\u{17}two\r", "two"),
        ("  \u{17}x\r", "x"), ("a zo\u{EB}\u{17}b\r", "a b"), ("wrong\u{15}right\r", "right"),
        ("zoë\u{7F}e\r", "zoe"), ("e\u{301}\u{7F}x\r", "x"), ("日本\u{7F}\r", "日"), ("👩‍👧\u{7F}!\r", "!"),
        ("a\u{1B}[Db\u{1B}[1;5Cc\u{1B}OHd\r", "abcd"), ("\u{1B}[200~pasted\u{1B}[201~\r", "pasted"),
        ("a\tb\u{1}c\r", "abc"), ("a\u{4}b\r", "ab"), ("\r", ""),
    ]

    @Test(arguments: lines)
    func `keys make a line`(_ keys: String, _ line: String) {
        #expect(type(keys).last == .line(line))
    }

    @Test func `end of input counts on an empty line only`() {
        #expect(type("\u{4}").last == .end)
        #expect(type("a\u{7F}\u{4}").last == .end)
        #expect(type("a\u{4}").last == .more(echo: []))
    }

    @Test func `what is rubbed out is rubbed out on the screen, wide characters too`() {
        #expect(type("ab\u{7F}").echo == "ab\u{8} \u{8}")
        #expect(type("日\u{7F}").echo == "日\u{8} \u{8}\u{8} \u{8}")
    }

    @Test(arguments: ["\u{15}", "\u{17}"])
    func `a long paste is taken away as fast as it came`(key: String) {
        let paste = String(repeating: "日a", count: 16_000)
        let start = ContinuousClock.now
        let typed = type(paste + key, longest: 65_535)
        #expect(ContinuousClock.now - start < .seconds(5))
        #expect(typed.echo == paste + String(repeating: "\u{8} \u{8}", count: 48_000))
        #expect(type(paste + key + "x\r", longest: 65_535).last == .line("x"))
    }

    @Test func `a line that is too long is refused, never cut`() {
        #expect(type("12345\r", longest: 5).last == .line("12345"))
        #expect(type("123456\r", longest: 5).last == .tooLong)
        #expect(type("123456\r12\r", longest: 5).last == .line("12"))
        #expect(type("123456\u{15}12\r", longest: 5).last == .line("12"))
        #expect(type("123456\u{7F}\r", longest: 5).last == .tooLong)
    }
}
