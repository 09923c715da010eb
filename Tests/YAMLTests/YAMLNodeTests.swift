import SeededRandom
import Testing
import YAML
import Yams

/// YAML as it is read, and as a library reads it.
@Suite struct YAMLNodeTests {
    /// What both readers say about a text, in one notation.
    private static func view(_ node: YAMLNode) -> String {
        switch node {
        case .text(let text): "'\(text)'"
        case .list(let nodes): "[\(nodes.map(view).joined(separator: ", "))]"
        case .map(let entries): "{\(entries.map { "\($0.name): \(view($0.value))" }.joined(separator: ", "))}"
        case .other: "other"
        }
    }

    private static func view(_ node: Node) -> String {
        switch node {
        case .scalar(let scalar):
            let isNull = scalar.style == .plain && ["", "~", "null", "Null", "NULL"].contains(scalar.string)
            return "'\(isNull ? "" : scalar.string)'"
        case .sequence(let nodes): return "[\(nodes.map(view).joined(separator: ", "))]"
        case .mapping(let map):
            return "{\(map.map { "\($0.key.string ?? "?"): \(view($0.value))" }.joined(separator: ", "))}"
        case .alias: return "alias"
        }
    }

    private static func library(_ text: String) throws -> Node? {
        try Parser(yaml: text, resolver: .basic, encoding: .utf8).nextRoot()
    }

    /// Whether the rows of entries begin where the library has their keys.
    private static func hasSameRows(_ own: YAMLNode, _ other: Node) -> Bool {
        guard case .map(let entries) = own, case .mapping(let pairs) = other else { return true }
        return zip(entries, pairs).allSatisfy { entry, pair in
            guard let rows = entry.rows else { return true }
            // An alias has the marks of its anchor.
            let isAnchored = pair.value.mark.map { $0.line <= rows.lowerBound } ?? true
            return rows.lowerBound + 1 == pair.key.mark?.line
                && (isAnchored || hasSameRows(entry.value, pair.value))
        }
    }

    private static let pieces = [
        "a", "b:", " ", "  ", "\n", "\n  ", "\n    ", "- ", ": ", "'", "\"", "{", "}", "[", "]", ", ", "#", " # c", "|",
        ">", "|-\n", ">+\n", "&x ", "*x", "!!str ", "key: ", "v", "\n- ", "\n  - ", "x: y\n", "\\n", "\\\n", "---\n",
        "...", "?", "-", "\t", "null", "~", "é", "1", "\r\n", ":", "|2", "\n\n", "\n k: ", "\n  k: ", "\n   k: ",
        "<<: *x\n",
    ]

    @Test(arguments: 1...8) func `what is read is what a library reads, in the same rows`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var read = 0
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 1...14, using: &random))
                .map { _ in Self.pieces.randomElement(using: &random) ?? "" }.joined()
            guard let own = YAMLNode(yaml: text.utf8) else { continue }
            read += 1
            let other = try #require(try? Self.library(text).map { $0 } ?? Node(""), "\(text.debugDescription)")
            try #require(Self.view(own) == Self.view(other), "\(text.debugDescription)")
            try #require(Self.hasSameRows(own, other), "\(text.debugDescription)")
        }
        #expect(read > 2000)
    }

    @Test(arguments: [
        ("a: b # c", "{a: 'b'}"), ("a: b#c", "{a: 'b#c'}"), ("# c\n---\na:   b  \r\n", "{a: 'b'}"),
        ("git.example:8443:\n  user: u", "{git.example:8443: {user: 'u'}}"), ("\"x: y\": 'it''s'", "{x: y: 'it's'}"),
        (#"a: "b \"c\" \\ # d" # e"#, #"{a: 'b "c" \ # d'}"#), ("a: !!null t", "{a: 't'}"),
        ("a:\nb: c", "{a: '', b: 'c'}"),
        ("a: https://x.example/y", "{a: 'https://x.example/y'}"),
        ("a:\n- x\n- y: z\n  w: v\nb: c", "{a: ['x', {y: 'z', w: 'v'}], b: 'c'}"),
        ("a: |2\n\n  x\n   y\n\nb: >-\n  c\n  d", "{a: '\nx\n y\n', b: 'c d'}"),
        ("a: b\n  c\n\n  d\ne: f", "{a: 'b c\nd', e: 'f'}"),
        ("{\"a\":[1,{\"b\": null}],\n\t\"c\":\"\\u00e9\"}", "{a: ['1', {b: ''}], c: 'é'}"),
        ("a: &x {b: c}\nd: *x", "{a: {b: 'c'}, d: {b: 'c'}}"),
        ("a: !!binary eA==\nb: !reset c", "{a: other, b: other}"),
        ("a: 1\n---\n][", "{a: '1'}"), ("", "''"),
    ])
    func `documents`(text: String, expected: String) throws {
        #expect(Self.view(try #require(YAMLNode(yaml: text.utf8))) == expected)
    }

    @Test(arguments: [
        "a: b\na: c", "a: b\n\tc: d", "a:\n    b: c\n  d: e", "\"a: b", "? [a]\n: b", "a: b: c", "a: [b",
        "a: *x", "a: b\rc: d", "a: \u{85}", "a: \"\\ud800\"", "- a\nb: c", "a: b\n  # c\n  d",
    ])
    func `what is invalid, or not supported, is refused`(text: String) { #expect(YAMLNode(yaml: text.utf8) == nil) }

    @Test func `neither depth nor repetition nor other bytes than UTF-8 are read`() {
        let deep = (0..<80).map { String(repeating: " ", count: $0) + "a:" }.joined(separator: "\n")
        #expect(YAMLNode(yaml: deep.utf8) == nil)
        #expect(YAMLNode(yaml: String(repeating: "[", count: 1_000_000).utf8) == nil)
        let laughs = (1...20).map { "a\($0): &a\($0) [*a\($0 - 1), *a\($0 - 1), *a\($0 - 1)]" }.joined(separator: "\n")
        #expect(YAMLNode(yaml: "a0: &a0 x\n\(laughs)".utf8) == nil)
        #expect(YAMLNode(yaml: [0x61, 0x3A, 0x20, 0xFF] as [UInt8]) == nil)
    }

    @Test func `maps take entries from others`() throws {
        let text = "x: &x {a: 1, b: 2}\ny: {<<: *x, a: 3}\nz: {<<: [*x, {c: 4}]}"
        let root = try #require(YAMLNode(yaml: text.utf8))
        #expect(root["y"]?.entries.map(\.name) == ["a", "b"] && root["y"]?["a"]?.text == "3")
        #expect(root["z"]?.entries.map(\.name) == ["a", "b", "c"])
    }

    @Test func `an entry's rows end with its last value`() throws {
        let text =
            "a: 1 # x\nb:\n  c: |\n    # d\n\n    e\n\n# f\ng:\n- h\n- i:\n    j: k\n  # l\nm: {n: o,\n  p: q}\nr:\n"
        let root = try #require(YAMLNode(yaml: text.utf8))
        #expect(root.entries.map(\.rows) == [0..<1, 1..<6, 8..<12, 13..<15, 15..<16])
        #expect(root["b"]?.entry("c")?.rows == 2..<6 && root["m"]?.entry("p")?.rows == nil)
        #expect(root["g"]?.elements.last?.entry("i")?.rows == nil)
    }
}
