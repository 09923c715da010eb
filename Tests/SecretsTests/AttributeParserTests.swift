import Secrets
import SeededRandom
import Testing

@Suite struct AttributeParserTests {
    private func parse(_ text: String, limit: Int = 1 << 20) throws(ProtocolError) -> [Attributes] {
        var parser = AttributeParser(longestInput: limit)
        var blocks = try parser.consume(text.utf8)
        if let last = try parser.finish() { blocks.append(last) }
        return blocks
    }

    private func pairs(_ text: String) throws -> [String] {
        try parse(text).flatMap(\.lines).map { "\($0.key)|\($0.value)" }
    }

    @Test(arguments: [
        ("a=1\nb=2\n", ["a|1", "b|2"]),
        ("a=1\nb=2", ["a|1", "b|2"]),
        ("a=1\r\nb=2\r\n", ["a|1", "b|2"]),
        ("a=\n", ["a|"]),
        ("a==b=c\n", ["a|=b=c"]),
        ("a= spaced \n", ["a| spaced "]),
        ("a=ü\u{85}\u{2028}z\n", ["a|ü\u{85}\u{2028}z"]),
        ("", []),
    ])
    func `lines end at a line feed and nowhere else`(text: String, expected: [String]) throws {
        #expect(try pairs(text) == expected)
    }

    @Test func `a blank line ends a block`() throws {
        let blocks = try parse("a=1\n\nb=2\n\n\nc=3")
        #expect(blocks.map { $0.lines.map(\.key) } == [["a"], ["b"], [], ["c"]])
    }

    @Test(arguments: [
        ("no equals sign\n", ProtocolError.malformedLine),
        ("=value\n", .malformedLine),
        ("a=x\0y\n", .forbiddenByte(key: "a")),
        // Programs that end lines at a carriage return would read another key.
        ("password=p\rhost=evil.example\n", .forbiddenByte(key: "password")),
        ("a=x\r\r\n", .forbiddenByte(key: "a")),
        ("k\0=y\n", .malformedLine),
    ])
    func `a broken line is an error`(text: String, expected: ProtocolError) {
        #expect(throws: expected) { try parse(text) }
    }

    @Test func `what is not UTF-8 is an error`() {
        var parser = AttributeParser(longestInput: 100)
        #expect(throws: ProtocolError.notUTF8) { _ = try parser.consume([0x61, 0x3D, 0xFF, 0x0A]) }
    }

    // git 2.41: a long wwwauth[] line was split, and its tail was parsed as a separate line.
    @Test func `an over-long line is an error and is never split`() throws {
        let longest = String(repeating: "a", count: AttributeParser.longestLine - 1 - "wwwauth[]=".utf8.count)
        #expect(try pairs("wwwauth[]=\(longest)\n").count == 1)
        #expect(throws: ProtocolError.lineTooLong) {
            try parse("wwwauth[]=\(longest)host=victim.example.com\n")
        }
    }

    @Test func `more input than allowed is an error`() {
        #expect(throws: ProtocolError.inputTooLong) { try parse("a=1\nb=2\n", limit: 7) }
    }

    @Test func `an empty value clears a list`() throws {
        let block = try #require(try parse("s[]=1\ns[]=2\ns[]=\ns[]=3\nt[]=4\n").first)
        #expect(block.list("s[]") == ["3"])
        #expect(block.list("t[]") == ["4"])
        #expect(block.list("absent[]").isEmpty)
    }

    @Test func `of a repeated key the last value counts`() throws {
        #expect(try parse("a=1\na=2\n").first?["a"] == "2")
    }

    @Test func `bytes may come one at a time`() throws {
        var parser = AttributeParser(longestInput: 1000)
        var blocks: [Attributes] = []
        for byte in "host=é.example\r\npath=p\n\n".utf8 { blocks += try parser.consume([byte]) }
        #expect(blocks.count == 1)
        #expect(blocks.first?["host"] == "é.example")
        #expect(blocks.first?["path"] == "p")
    }

    // CVE-2020-5260: a newline in a value forged a host= line.
    @Test(arguments: [
        ("a", "x\nhost=evil"), ("a", "x\0y"), ("a\nb", "x"), ("", "x"), ("a=b", "x"), ("a", "x\r"),
        ("a", "x\rhost=evil"),
    ])
    func `what could not be read back is refused when written`(key: String, value: String) {
        var block = Attributes()
        #expect(throws: ProtocolError.self) { try block.append(key, value) }
        #expect(block.isEmpty)
    }

    @Test func `what is written is read back`() throws {
        var block = Attributes()
        try block.append("password", "=ä x")
        try block.append("state[]", list: ["1", "2"])
        #expect(try parse(String(decoding: block.encoded, as: UTF8.self)) == [block])
    }

    @Test func `random bytes never crash the parser, and what parses can be written again`() throws {
        var generator = SeededGenerator(seed: 42)
        let alphabet: [UInt8] = [0x0A, 0x0D, 0x3D, 0x5B, 0x5D, 0x61, 0x62, 0x00, 0xC3, 0xA9, 0x20]
        for _ in 0..<5_000 {
            let bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
            }
            var parser = AttributeParser(longestInput: 64)
            guard let blocks = try? parser.consume(bytes), let last = try? parser.finish() else { continue }
            for block in blocks + [last] {
                var again = AttributeParser(longestInput: 200)
                #expect(try again.consume(block.encoded + [0x0A]) == [block])
            }
        }
    }
}
