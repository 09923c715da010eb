import Glibc
import Terminal
import TestSupport
import Testing

@testable import CommandKit
@testable import Commands
@testable import Diagnosis

/// Commands in configuration and `$BROWSER`, and words in hints.
@Suite struct ShellWordsTests {
    private static let commands: [(String, [String]?)] = [
        ("firefox", ["firefox"]), ("  firefox   -P  work ", ["firefox", "-P", "work"]),
        (#"firefox -P "my work""#, ["firefox", "-P", "my work"]),
        (#"'/opt/a b/c' --app=%s"#, ["/opt/a b/c", "--app=%s"]),
        (#"/opt/a\ b/c"#, ["/opt/a b/c"]), (#"a "b\"c" 'd\e'"#, ["a", #"b"c"#, #"d\e"#]), (#"a ''"#, ["a", ""]),
        (#"a"b"'c'd"#, ["abcd"]), (#"a "b\c""#, ["a", #"b\c"#]), ("", []), ("   ", []), (#"a "b"#, nil), ("a 'b", nil),
        (#"a\"#, nil), ("a\\\nb 'c\\\nd'", ["ab", "c\\\nd"]),
    ]

    @Test(arguments: commands)
    func `a command is split as a shell would`(_ command: String, _ words: [String]?) {
        #expect(ShellWords.split(command) == words)
    }

    private static let lists: [(String, [[String]])] = [
        ("firefox:chromium", [["firefox"], ["chromium"]]), ("::w3m::", [["w3m"]]),
        (
            #"chromium "--proxy-server=http://localhost:3128":w3m %s"#,
            [
                ["chromium", "--proxy-server=http://localhost:3128"], ["w3m", "%s"],
            ]
        ),
        (#"a\:b:c"#, [["a:b"], ["c"]]), ("", []),
    ]

    @Test(arguments: lists)
    func `a list of browsers is split at colons outside of quotes`(_ list: String, _ commands: [[String]]) {
        #expect(ShellWords.list(list).compactMap(ShellWords.split) == commands)
    }

    @Test(arguments: [
        "https://dev.azure.com/contoso", "https://x.example/a?b=c&d", "it's", "", "a b", "$(rm -rf ~)",
        "api://x/.default",
        "zoë@contoso.example", "a\\b",
    ])
    func `a quoted word is one word again`(text: String) {
        #expect(ShellWords.split(ShellWords.quote(text)) == [text])
    }

    @Test func `a word that needs no quotes gets none`() {
        #expect(ShellWords.quote("https://dev.azure.com/contoso") == "https://dev.azure.com/contoso")
        #expect(ShellWords.quote("https://x.example/?a=1&b") == "'https://x.example/?a=1&b'")
    }

    @Test func `what isn't plain ASCII is quoted, and so is what zsh takes for a program's path`() {
        #expect(ShellWords.quote("zoë") == "'zoë'")
        #expect(ShellWords.quote("=ls") == "'=ls'" && ShellWords.quote("a=b") == "a=b")
        #expect(ShellWords.quote(#"it's\"#) == #"'it'\''s'\\''"#)
    }

    @Test func `delimiters count by bytes, whatever they are part of`() {
        let words = ShellWords.split("a\u{0D4E} b '\u{0301}c d'\u{0301}")
        #expect(words == ["a\u{0D4E}", "b", "\u{0301}c d\u{0301}"])
        #expect(ShellWords.list("a\u{0D4E}:b:\u{0301}c") == ["a\u{0D4E}", "b", "\u{0301}c"])
    }

    @Test(arguments: ["bash", "sh", "zsh", "fish"])
    func `shells take a quoted word for what it is, and run none of it`(shell: String) async throws {
        try await ScratchDirectory.with { scratch in
            let quoted = HostileText.all.map(ShellWords.quote).joined(separator: " ")
            let ended = try await run(
                "/bin/sh",
                ["-c", #"cd "$0" && exec "$@""#, scratch.path, shell, "-c", "printf '<%s>' \(quoted)"],
                environment: scratch.environment)
            #expect(ended.output == HostileText.all.map { "<\($0)>" }.joined(), "\(ended)")
            #expect(ended.status == 0 && !scratch.has("pwned"))
        }
    }

    @Test(arguments: ["", "'", "\""])
    func `what bash completes is the word and nothing else`(opened: String) async throws {
        try await ScratchDirectory.with { scratch in
            // readline edits a single line, and completes nothing for no input.
            for text in HostileText.all where !text.isEmpty && !text.utf8.contains(UInt8(ascii: "\n")) {
                let typed = BashLine("lanyard use \(opened)", breaks: " \t\n\"'@><=;|&(:")
                let end = try #require(typed.replacement(for: text))
                let ended = try await run(
                    "bash", ["-c", #"cd "$0" && . /dev/stdin"#, scratch.path],
                    input: "printf '<%s>' \(opened)\(end)\(opened)\n", environment: scratch.environment)
                #expect(ended.output == "<\(text)>", "\(end): \(ended)")
                #expect(!scratch.has("pwned"), "\(end)")
            }
        }
    }
}

/// Texts that an outsider may choose and that would run a command wherever they aren't quoted.
enum HostileText {
    static let all: [String] = [
        "'\u{0301};echo>pwned;'\u{0301}", "x\u{0D4E};echo>pwned", "x\u{0D4E}|echo>pwned", "\u{0D4E}`echo>pwned`",
        "';echo>pwned;'", "\";echo>pwned;\"", "$(echo>pwned)", "${x:=$(echo>pwned)}", "a\necho>pwned",
        "a;\u{200D}echo>pwned", "&echo>pwned&", "|\u{FE0F}echo>pwned", #"\';echo>pwned;'"#, #"\"#, "'",
        "\u{20E3}'\u{20E3}", "-x", "--forget", "=ls", "~root", "#x", "!!", "a b", "*", "{a,b}", "<pwned", ">pwned",
        "zoë", "日本語", "",
    ]
}

extension ScratchDirectory {
    /// Whether a file was created there.
    func has(_ name: String) -> Bool { access("\(path)/\(name)", F_OK) == 0 }
}
