import SeededRandom
import SettingsFile
import Terminal
import Testing

@Suite struct SettingsTableTests {
    private func table(_ text: String) throws -> SettingsTable {
        try SettingsTable(file: "f.toml", text: text)
    }

    private func line(_ key: String?, of table: SettingsTable) -> Int? {
        table.error(key, "").line
    }

    @Test func `a key's line is found wherever TOML lets it stand`() throws {
        let file = try table(
            #"""
            # key = "in a comment"
            first = "a = 1"
            "quo ted" = 'it # is'
            list = [
              "one", # second = 2
              "second = 2",
            ]
            long = """
            second = 2
            [policy]
            \""" ""x"""
              second   = 2
            dotted.inner . key = 1
            [ policy ]  # second = 2
            second = 3
            [[ "rule" ]]
            url = "a"
            [[rule]]
            first = 1
            url = "b"
            [rule.deep]
            first = 2
            """#)
        let lines = ["first", "quo ted", "list", "long", "second", "dotted", "policy", "rule"].map {
            line($0, of: file)
        }
        #expect(lines == [2, 3, 4, 8, 12, 13, 14, 16])
        #expect(line("absent", of: file) == nil)
        #expect(line(nil, of: file) == nil)
        let policy = try #require(try file.table("policy"))
        #expect(line("second", of: policy) == 15)
        #expect(line("first", of: policy) == 14)
        let rules = try file.tables("rule")
        #expect(rules.map { line("url", of: $0) } == [17, 20])
        #expect(rules.map { line("first", of: $0) } == [16, 19])
        let deep = try #require(try rules[1].table("deep"))
        #expect(line("first", of: deep) == 22)
        let inner = try #require(try file.table("dotted")?.table("inner"))
        #expect(line("key", of: inner) == 13)
    }

    @Test func `inline tables have lines too, and carriage returns change none`() throws {
        let file = try table(
            "rule = [\r\n { url = \"a\", scopes = [\"}\", \"]\"] },\r\n { scopes = [], url = \"b\" },\r\n]\r\nlast = 1\r\n"
        )
        #expect(try file.tables("rule").map { line("url", of: $0) } == [2, 3])
        #expect(line("last", of: file) == 5)
    }

    @Test func `what only looks like trouble is read`() throws {
        let file = try table(
            #"""
            nested = [
              [
                [1, 2],
              ],
            ]
            texts = ["[", "}", "a\\u0000", 'b\u0000']
            when = 2026-11-21 07:00:00 # }
            long = '''
            [
            }'''
            """#)
        #expect(try file.strings("texts") == ["[", "}", #"a\u0000"#, #"b\u0000"#])
        #expect(try file.string("long") == "[\n}")
        #expect(line("when", of: file) == 7)
    }

    @Test func `a byte order mark is no part of the text`() throws {
        #expect(try table("\u{FEFF}a = 1\n").integer("a") == 1)
    }

    @Test(arguments: [
        ("a = 1\n[\n", 2), ("[[\n", 1), ("a = 1\n [ \t\n[b]", 2), ("[.a]\n", 1), ("a = \"\u{0}\"", 1),
        ("a = 1\nb = \"x\\u0000y\"", 2), ("\"a\\U00000000\" = 1", 1), ("\u{FEFF}[\n", 1), ("\u{FEFF}\u{FEFF}[\n", 1),
        ("a = [\n  1, # c\n  }", 3), ("a = { b = [}] }", 1), ("a = 2026-11-21 7\n", 1), ("a = [2026-11-21 7]", 1),
        ("a = 2026-11-21T:0", 1), ("a = [\u{2028}]", 1),
        ("a = [1,\n\u{85}]", 2),
        ("a = 2026-11-21 7\u{A0}", 1), (String(repeating: "[", count: 5) + "a]", 1),
        ("a = " + String(repeating: "[", count: 100_000), 1),
        (String(repeating: "a.", count: 100_000) + "a = 1", 1),
        ("[" + String(repeating: "a.", count: 100_000) + "a]", 1),
    ])
    func `what would break the parser, or cut a text short, never reaches it`(text: String, line: Int) throws {
        let error = try #require(throws: SettingsError.self) { try table(text) }
        #expect(error.line == line)
        #expect(error.message.text.hasPrefix("not valid TOML: "))
    }

    @Test func `an unknown key brings the nearest, or all`() throws {
        let near = try #require(throws: SettingsError.self) { try table("urll = 1").allow(only: ["url", "scopes"]) }
        #expect(near.hint == "did you mean `url`?")
        let far = try #require(throws: SettingsError.self) { try table("zzzzzz = 1").allow(only: ["url", "scopes"]) }
        #expect(far.hint == "the keys known here are scopes, url")
    }

    @Test func `no damage to a file breaks the reader`() throws {
        var random = SeededGenerator(seed: 12)
        let whole = Array(Self.damaged.utf8)
        var read = 0
        for _ in 0..<3_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) { damage(&bytes, using: &random) }
            guard let text = String(validating: bytes, as: UTF8.self), let file = try? table(text) else { continue }
            read += 1
            for key in file.keys {
                let line = line(key, of: file)
                #expect(line.map { $0 >= 1 && $0 <= bytes.count(where: { $0 == 10 }) + 1 } ?? true)
            }
            for rule in (try? file.tables("rule")) ?? [] { #expect(line(nil, of: rule) != nil) }
        }
        #expect(read > 150)
    }

    private static let damaged = #"""
        client-id = "default"
        "quoted key" = 'literal'
        known-authorities = [
          "a.example", # comment
          "b.example",
        ]
        text = """
        [not.a.table]
        """
        [policy]
        lock = ["flow"]
        [[rule]]
        url = "https://*.example"
        when = 2026-11-21T06:00:00Z
        also = [2026-11-21 07:00:00.5+01:00, 2026-11-21, 07:00:00]
        inline = { a.b = 1, c = [1, 2.5e-3, true, 0x1F, +inf] }
        [[rule]]
        url = "https://h.example"
        [rule.more]
        scopes = ["api://host/.default"]
        """#

    private func damage(_ bytes: inout [UInt8], using random: inout SeededGenerator) {
        guard !bytes.isEmpty else { return bytes.append(10) }
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bytes[index] = UInt8.random(in: 0...127, using: &random)
        case 1: bytes.remove(at: index)
        case 2: bytes.insert(Array("\n\r\0=[]{}\"'\\#.".utf8).randomElement(using: &random) ?? 10, at: index)
        case 3:
            bytes.insert(
                contentsOf: ["\u{2028}", "\u{85}", "\u{A0}"].randomElement(using: &random)?.utf8 ?? "".utf8, at: index)
        case 4: bytes.insert(contentsOf: bytes[index...].prefix(40), at: index)
        default: bytes.removeLast(min(bytes.count, 5))
        }
    }
}
