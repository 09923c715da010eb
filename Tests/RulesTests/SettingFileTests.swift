import Foundation
import SettingsFile
import Terminal
import Testing

@testable import Rules

/// Adding settings to files that users write, and removing them.
@Suite struct SettingFileTests {
    private let folder: String

    init() throws {
        folder = NSTemporaryDirectory() + "lanyard-settings-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    /// A change of a text, and its expected result.
    struct Edit: Sendable, CustomTestStringConvertible {
        let before: String
        let key: String
        /// The new value; nil to remove the key.
        var value: SettingValue?
        let after: String

        var testDescription: String { "\(key) in \(before.debugDescription)" }
    }

    private static let rule = """
        [[rule]]
        url = "https://b.example"
        authority = "https://login.example/b"
        scopes = ["b/.default"]

        """

    private static let replacements = [
        Edit(
            before: "# mine\n  timeout  =  60   # a minute\r\nflow='browser'\n", key: "timeout", value: .number(90),
            after: "# mine\n  timeout  =  90   # a minute\r\nflow='browser'\n"),
        Edit(
            before: "known-authorities = [ # two\n  \"a.example\",\n  'b.example' ] # end\naccount = \"a\"",
            key: "known-authorities", value: .list(["c.example"]),
            after: "known-authorities = [\"c.example\"] # end\naccount = \"a\""),
        Edit(before: "\"timeout\" = 1_0\n", key: "timeout", value: .number(60), after: "\"timeout\" = 60\n"),
        Edit(
            before: "browser = '''a\nb'''\ntimeout = 60\n", key: "browser", value: .text("x \"y\" \\"),
            after: "browser = \"x \\\"y\\\" \\\\\"\ntimeout = 60\n"),
        Edit(
            before: "\u{FEFF}timeout = 60\n", key: "timeout", value: .number(61), after: "\u{FEFF}timeout = 61\n"),
    ]

    /// A new key is placed after the other keys and before the tables.
    private static let additions = [
        Edit(before: "", key: "flow", value: .text("browser"), after: "flow = \"browser\"\n"),
        Edit(
            before: "#:schema file:///s\n", key: "answer-cache", value: .truth(false),
            after: "#:schema file:///s\nanswer-cache = false\n"),
        Edit(before: "timeout = 60", key: "group", value: .text("g"), after: "timeout = 60\ngroup = \"g\"\n"),
        Edit(
            before: "timeout = 60 # a\r\n\r\n# b's\r\n" + rule, key: "group", value: .text("g"),
            after: "timeout = 60 # a\r\ngroup = \"g\"\r\n\r\n# b's\r\n" + rule),
        Edit(
            before: "# this file\n\n# b's\n" + rule, key: "flow", value: .text("browser"),
            after: "# this file\n\nflow = \"browser\"\n\n# b's\n" + rule),
        Edit(before: rule, key: "timeout", value: .number(60), after: "timeout = 60\n\n" + rule),
    ]

    /// Removing a key removes its own lines only.
    private static let removals = [
        Edit(
            before: "# kept\ntimeout = 60 # gone\n# kept too\n" + rule, key: "timeout",
            after: "# kept\n# kept too\n" + rule),
        Edit(before: "flow = 'auto'\ntimeout = 60", key: "timeout", after: "flow = 'auto'\n"),
        Edit(
            before: "known-authorities = [\n'a.example',\n]\ntimeout = 60\n", key: "known-authorities",
            after: "timeout = 60\n"),
    ]

    @Test(arguments: replacements + additions + removals)
    func `one key changes, and all else stays byte for byte`(_ edit: Edit) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/config.toml"
        try edit.before.write(toFile: path, atomically: true, encoding: .utf8)
        let file = try SettingFile(reading: path)
        if let value = edit.value {
            try file.set(edit.key, to: value, schema: nil)
        } else {
            #expect(try file.unset(edit.key))
        }
        let after = FileManager.default.contents(atPath: path)
        #expect(after.map { String(decoding: $0, as: UTF8.self) } == edit.after)
    }

    @Test func `a file that is missing is made for its owner, with the schema on its first line`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/new/config.toml"
        try SettingFile(reading: path).set("timeout", to: .number(60), schema: "file:///s.json")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text == "#:schema file:///s.json\ntimeout = 60\n")
        let facts = try FileManager.default.attributesOfItem(atPath: path)
        #expect(facts[.posixPermissions] as? Int == 0o600)
        #expect(try SettingFile(reading: path).unset("flow") == false)
    }

    @Test func `a key with an escape in its name is the same key`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/config.toml"
        let text = "\"time\\u006fut\" = 60\n"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        try SettingFile(reading: path).set("timeout", to: .number(90), schema: nil)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "\"time\\u006fut\" = 90\n")
    }

    @Test func `of two that change it at once, the one that read first is refused`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/config.toml"
        let late = try SettingFile(reading: path)
        try SettingFile(reading: path).set("timeout", to: .number(60), schema: nil)
        #expect(throws: SettingsError.self) { try late.set("timeout", to: .number(90), schema: nil) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "timeout = 60\n")
    }

    @Test(arguments: [
        ("timeout", ["9"]), ("timeout", ["soon"]), ("timeout", ["60", "61"]), ("flow", ["brwser"]),
        ("authority", ["http://login.example/x"]), ("known-authorities", ["a.example", "https://b.example"]),
        ("answer-cache", ["perhaps"]), ("ca-file", ["here.pem"]), ("group", ["a b"]), ("client-id", ["a b"]),
        ("account", [""]), ("default-identity", [""]),
    ])
    func `a value that a file would be refused for is none`(_ key: String, _ words: [String]) {
        let error = #expect(throws: SettingsError.self) { try Configuration.value(words, of: key) }
        #expect(error?.message.text.contains("`\(key)`") == true && error?.file == "", "\(String(describing: error))")
    }

    @Test func `each key has a value of its own kind`() throws {
        let words = [
            "account": ["a@b.example"], "agent": ["/run/agent.sock"], "answer-cache": ["off"],
            "authority": ["https://login.example/x"],
            "browser": ["firefox -P 'my work'"], "ca-file": ["/ca.pem"], "client-id": ["id"],
            "default-identity": ["environment"],
            "device-mode": ["shared"], "flow": ["device-code"], "group": ["g"],
            "known-authorities": ["a.example", "b.example"], "timeout": ["60"],
        ]
        #expect(words.keys.sorted() == Configuration.settingKeys)
        for (key, words) in words {
            let value = try Configuration.value(words, of: key)
            var configuration = Configuration()
            try configuration.apply(SettingsTable(file: "f", text: "\(key) = \(value.inTOML)"), isSystem: true)
            #expect(configuration.value(of: key) == value && value != Configuration().value(of: key), "\(key)")
        }
    }
}
