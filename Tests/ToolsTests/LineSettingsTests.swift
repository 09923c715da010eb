import Testing

@testable import Tools

/// Settings on one line each, as in pip, the AWS tools, Go and npm.
@Suite struct LineSettingsTests {
    /// A text, a section, and the text with `k` in it.
    private static let edits: [(String, String?, String)] = [
        ("", "global", "[global]\nk = v\n"),
        ("[a]\nx = 1\n", "global", "[a]\nx = 1\n\n[global]\nk = v\n"),
        (
            "# mine\n[global]\nindex-url = https://x\n\n[install]\nk = 2\n", "global",
            "# mine\n[global]\nindex-url = https://x\nk = v\n\n[install]\nk = 2\n"
        ),
        (
            "[global]\nextra =\n    https://a\n    https://b\n", "global",
            "[global]\nextra =\n    https://a\n    https://b\nk = v\n"
        ),
        ("", nil, "k=v\n"), ("GOPROXY=direct\n", nil, "GOPROXY=direct\nk=v\n"),
        ("; k = 1\n# k = 2\n", nil, "; k = 1\n# k = 2\nk=v\n"),
    ]

    @Test(arguments: edits)
    func `a key is put in and taken out again`(text: String, section: String?, after: String) {
        let lines = LineSettings(text, section: section)
        #expect(lines.value(of: "k") == nil)
        #expect(lines.setting("k", to: "v") == after)
        let changed = LineSettings(after, section: section)
        #expect(changed.value(of: "k") == "v")
        #expect(changed.removing("k") == text)
    }

    @Test(arguments: [
        ("[s]\nk: 1 \n", "s", "[s]\nk: v\n"), ("[s]\n  x = 1\nK   =1\n", "s", "[s]\n  x = 1\nK   =v\n"),
        ("[s]\nk =\n  a\n  b\nz = 1\n", "s", "[s]\nk =v\nz = 1\n"), ("k=a b\n", nil, "k=v\n"),
        ("//h:80/:tokenHelper=/x\nk=1", nil, "//h:80/:tokenHelper=/x\nk=v"), ("[s]\r\nk = 1", "s", "[s]\r\nk = v"),
        // Only what is indented more than a key goes on with its value, and no comment does.
        ("[s]\n  x = 1\n  k = 1\n", "s", "[s]\n  x = 1\n  k = v\n"),
        ("[s]\nk = 1\n  # note\nz = 1\n", "s", "[s]\nk = v\n  # note\nz = 1\n"),
        (" [s]\n k = 1\n  [t]\n", "s", " [s]\n k = v\n"),
    ])
    func `a value is replaced where it stands, and put back`(text: String, section: String?, after: String) throws {
        let before = try #require(LineSettings(text, section: section).value(of: "k"))
        #expect(LineSettings(text, section: section).setting("k", to: "v") == after)
        #expect(LineSettings(after, section: section).setting("k", to: before) == text)
    }

    @Test func `pip's names are the same with hyphen, underscore and capitals`() {
        #expect(
            LineSettings("[global]\nKeyring_Provider = x\n", section: "global").value(of: "keyring-provider") == "x")
        #expect(LineSettings("GOauth=x\n", section: nil).value(of: "GOAUTH") == nil)
    }

    @Test func `a section that still has something keeps its header`() {
        let text = "[s]\n# note\nk = v\n\n[t]\n"
        #expect(LineSettings(text, section: "s").removing("k") == "[s]\n# note\n\n[t]\n")
    }
}
