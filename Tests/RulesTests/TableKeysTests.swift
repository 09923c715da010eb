import SettingsFile
import Testing

/// Keys of tables in TOML files that other programs read.
@Suite struct TableKeysTests {
    private static let cargo = """
        # mine
        [build]
        jobs = 2 # two

        [registries.x]
        index = "sparse+https://x.example/"

        """

    /// A text, and the text with `k = 1` in `[registry]`.
    private static let edits = [
        ("", "[registry]\nk = 1\n"), (cargo, cargo + "\n[registry]\nk = 1\n"),
        ("a = 1", "a = 1\n\n[registry]\nk = 1\n"), ("a = 1\r\n", "a = 1\r\n\r\n[registry]\r\nk = 1\r\n"),
        (
            "[registry] # here\ndefault = 'x'\n[other]\nk = 2\n",
            "[registry] # here\ndefault = 'x'\nk = 1\n[other]\nk = 2\n"
        ),
        ("[registry]\n# a note\na = { k = 3 }\n\n", "[registry]\n# a note\na = { k = 3 }\nk = 1\n\n"),
    ]

    @Test(arguments: edits)
    func `a key is put into a table and taken out of it`(text: String, after: String) throws {
        let keys = try TableKeys(of: "registry", file: "f", text: text)
        #expect(keys.value(of: "k") == nil)
        #expect(keys.setting("k", to: "1") == after)
        let changed = try TableKeys(of: "registry", file: "f", text: after)
        #expect(changed.value(of: "k") == "1")
        let back = text == "a = 1" ? "a = 1\n" : text
        #expect(changed.removing("k") == back)
    }

    @Test func `a value of several lines is replaced whole, and put back`() throws {
        let text = "[registry]\nk = [ # all\n  \"a\",\n]  # end\n"
        let keys = try TableKeys(of: "registry", file: "f", text: text)
        let before = try #require(keys.value(of: "k"))
        #expect(before == "[ # all\n  \"a\",\n]")
        let after = keys.setting("k", to: "[]")
        #expect(after == "[registry]\nk = []  # end\n")
        #expect(try TableKeys(of: "registry", file: "f", text: after).setting("k", to: before) == text)
    }

    @Test(arguments: ["registry = { k = 1 }\n", "registry.k = 1\n"])
    func `a table that is written otherwise is refused with its line`(text: String) {
        #expect(throws: SettingsError.self) { try TableKeys(of: "registry", file: "f", text: "\n\(text)") }
    }

    @Test func `what stands in an inline table or in a table is no key above them`() throws {
        let keys = try TableKeys(file: "f", text: "a = { k = 1 }\n[t]\nk = 2\n")
        #expect(keys.value(of: "k") == nil)
        #expect(keys.setting("k", to: "3") == "a = { k = 1 }\nk = 3\n[t]\nk = 2\n")
    }
}
