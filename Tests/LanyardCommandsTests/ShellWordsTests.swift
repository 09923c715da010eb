import Testing

@testable import LanyardCommands

/// Commands in configuration and `$BROWSER`, and words in hints.
@Suite struct ShellWordsTests {
    private static let commands: [(String, [String]?)] = [
        ("firefox", ["firefox"]), ("  firefox   -P  work ", ["firefox", "-P", "work"]),
        (#"firefox -P "my work""#, ["firefox", "-P", "my work"]),
        (#"'/opt/a b/c' --app=%s"#, ["/opt/a b/c", "--app=%s"]),
        (#"/opt/a\ b/c"#, ["/opt/a b/c"]), (#"a "b\"c" 'd\e'"#, ["a", #"b"c"#, #"d\e"#]), (#"a ''"#, ["a", ""]),
        (#"a"b"'c'd"#, ["abcd"]), (#"a "b\c""#, ["a", #"b\c"#]), ("", []), ("   ", []), (#"a "b"#, nil), ("a 'b", nil),
        (#"a\"#, nil),
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
}
