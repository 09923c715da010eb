import SeededRandom
import Testing

@testable import Tools

/// Settings in files of every format: set, and taken back.
@Suite struct UndoneSettingTests {
    /// A format with a key, a new value, and pieces of files.
    struct Case: Sendable, CustomTestStringConvertible {
        let format: ToolSetting.Format
        let key: [String]
        let value: String
        let pieces: [String]
        var testDescription: String { "\(format)" }
    }

    @Test(arguments: [
        Case(
            format: .ini, key: ["global", "index-url"], value: "https://x",
            pieces: [
                "[global]\n", "[other]\n", "index-url = a\n", "index_url: a\n  b\n\n  c\n", "INDEX-URL=\n    a\n\n",
                "k = v\n",
                "# c\n", "\n", "  \n", "[global] # x\n", "\t\n",
            ]),
        Case(
            format: .lines, key: ["GOAUTH"], value: "x",
            pieces: ["GOAUTH=a\n", "GOAUTH=\n", "B=c\n", "\n", "# c\n", " \n", "GOAUTH =a\n"]),
        Case(format: .line, key: ["x y"], value: "x y", pieces: ["a\n", "a \\\n", "\n", "# c\n", " \n"]),
        Case(
            format: .firstLine, key: ["Include x"], value: "Include x",
            pieces: ["a\n", "\n", "Host b\n", "  Include y\n", "# c\n"]),
        Case(
            format: .toml, key: ["registry", "x"], value: "\"v\"",
            pieces: [
                "[registry]\n", "[other]\n", "x = 'a'\n", "y = 1 # c\n", "# c\n", "\n", "\n\n",
                "x = [\n\n  'a', # b\n]\n",
            ]),
    ])
    func `a file is as it was after undoing`(given: Case) throws {
        var random = SeededGenerator(seed: 1)
        let setting = ToolSetting(given.format, given.key, in: "/f")
        var done = 0
        for _ in 0..<4000 {
            var text = (0..<Int.random(in: 0...6, using: &random))
                .map { _ in given.pieces.randomElement(using: &random) ?? "" }.joined()
            if Bool.random(using: &random) { text = text.replacing("\n", with: "\r\n") }
            // What is invalid is refused.
            guard let before = try? .some(setting.value(in: text)), before != given.value,
                let isApart = try? setting.setsApart(in: text),
                let hasSection = try? setting.hasSection(in: text), let new = try? setting.text(text, with: given.value)
            else { continue }
            try #require(try setting.value(in: new) == given.value, "\(text.debugDescription) \(new.debugDescription)")
            let back = try setting.text(new, with: before, isSetApart: isApart, keepingSection: hasSection)
            try #require(back == text, "\(text.debugDescription) \(new.debugDescription)")
            done += 1
        }
        #expect(done > 300)
    }

    @Test(arguments: [["a"], ["b", "c"], ["e"]], ["\"v\"", "[\n\t\t1\n\t]"])
    func `JSON with comments is as it was after undoing, and its comments stay in their rows`(
        key: [String], value: String
    ) throws {
        var random = SeededGenerator(seed: 1)
        let setting = ToolSetting(.jsonWithComments, key, in: "/f")
        var done = 0
        for _ in 0..<3000 {
            func some(_ choices: [String]) -> String { choices.randomElement(using: &random) ?? "" }
            let end = some(["\n", "\n  ", "\n\t", " ", "", "\n\n"])
            let comments = ["", "", "", " // c", " /* c */", " // \"d\": {},  ", " /* c\n * d */"]
            func comment() -> String {
                let comment = some(comments)
                return comment.contains("//") && !end.contains("\n") ? "\(comment)\n" : comment
            }
            let members = [
                "\"a\": 1", "\"b\": {}", "\"b\": {\(end)\"d\": 2\(comment())\(end)}", "\"d\": [ // x\n 3 ]",
                "\"f\": \"//\"",
            ]
            let count = Int.random(in: 0...3, using: &random)
            let body = (0..<count).map { index in
                "\(end)\(some(members))\(index + 1 < count || Bool.random(using: &random) ? "," : "")\(comment())"
            }
            let text =
                Int.random(in: 0...9, using: &random) == 0
                ? some(["", "\n \n", "{ }", "{}", "{}\n\n", " {\n}"])
                : "\(some(["", "// first\n"])){\(comment())\(body.joined())\(some(["\n", end]))}\(some(["", "\n", " // last\n"]))"
            guard let before = try? .some(setting.value(in: text)), let hasSection = try? setting.hasSection(in: text),
                let new = try? setting.text(text, with: value)
            else { continue }
            try #require(try setting.value(in: new) == value, "\(text.debugDescription) \(new.debugDescription)")
            let empty = try setting.emptyObject(in: text)
            let back = try setting.text(new, with: before, keepingSection: hasSection, emptyObject: empty)
            try #require(back == text, "\(text.debugDescription) \(new.debugDescription)")
            done += 1
            guard before == nil, key.count == 1 else { continue }
            func commented(_ text: String) -> [String] {
                text.split(separator: "\n").filter { $0.contains("// c") }.map { String($0).replacing(",", with: "") }
            }
            if end.contains("\n") {
                try #require(commented(new) == commented(text), "\(text.debugDescription) \(new.debugDescription)")
            }
        }
        #expect(done > 300)
    }
}
