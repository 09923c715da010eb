import Claims
import Foundation
import SettingsFile
import Testing

@testable import Rules

/// Adding rules to files that users write, and removing them.
@Suite struct RuleFileTests {
    private let folder: String

    init() throws {
        folder = NSTemporaryDirectory() + "lanyard-rules-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    private func rule(_ url: String) throws -> Rule {
        var rule = Rule(
            pattern: try #require(URLPattern(url)), authority: "https://login.example/contoso", scopes: ["a/.default"])
        rule.clientID = "id"
        return rule
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    private static let written = """
        # mine, with care
        flow   =   "browser"   # odd spaces stay

        # contoso's
        [[rule]]
        scopes = [ "b/.default", # one
                   "b/x" ]
        url="https://b.example"
        authority   = "https://login.example/b"
        # a last word on contoso

        # fabrikam's
        [[ rule ]]
        url = 'https://c.example'
        authority = "https://login.example/c"
        scopes = ['''c/.default''']
        """

    @Test func `a rule is added at the end, and all else stays byte for byte`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/config.toml"
        try Self.written.write(toFile: path, atomically: true, encoding: .utf8)
        try TableFile<Rule>(reading: path).add(try rule("https://d.example"), schema: nil)
        #expect(try text(path) == Self.written + "\n\n" + rule("https://d.example").toml)
        #expect(try TableFile<Rule>(reading: path).tables.map(\.pattern.text).last == "https://d.example")
    }

    @Test(arguments: ["\n", "\r\n"])
    func `a table is replaced where it is, below its comments`(lineEnd: String) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/config.toml"
        let before = """
            flow = "browser"

            # at work
            [[forward]]  # since May
            name = "devbox"
            urls = [
              # the repositories
              "https://dev.azure.com/contoso",  # "all" of #1
              "https://b.example"]

            [[forward]]
            name = "other"
            urls = ["https://b.example"]
            """
        let after = """
            flow = "browser"

            # at work
            # since May
            # the repositories
            # "all" of #1
            [[forward]]
            name = "devbox"
            urls = ["https://dev.azure.com/contoso", "https://b.example"]
            confirm = true

            [[forward]]
            name = "other"
            urls = ["https://b.example"]
            """
        try before.replacing("\n", with: lineEnd).write(toFile: path, atomically: true, encoding: .utf8)
        let file = try TableFile<Forward>(reading: path)
        var changed = file.tables[0]
        changed.confirms = true
        try file.replace(file.tables[0], with: changed)
        #expect(try text(path) == after.replacing("\n", with: lineEnd))
    }

    @Test func `all that a rule can say is written and read again`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/config.toml"
        var full = try rule("https://d.example/x")
        full.account = "alice@contoso.example"
        full.kind = "b2c"
        full.signIn.domainHint = "contoso.example"
        full.signIn.queryParameters = ["dc": "ESTS-1", "a.b": "it's \"quoted\""]
        full.signIn.redirectPort = 8400
        full.signIn.resetPolicy = "B2C_1_reset"
        try TableFile<Rule>(reading: path).add(full, schema: nil)
        let read = try #require(try TableFile<Rule>(reading: path).tables.last)
        #expect(read.signIn == full.signIn && read.kind == "b2c")
    }

    @Test func `a rule goes with the comment above it, and nothing else does`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/config.toml"
        try Self.written.write(toFile: path, atomically: true, encoding: .utf8)
        let file = try TableFile<Rule>(reading: path)
        let pattern = try #require(URLPattern("https://B.example:443/"))
        try file.remove(try #require(file.tables.first { $0.pattern.means(pattern) }))
        let start = try #require(Self.written.range(of: "# contoso's"))
        let end = try #require(Self.written.range(of: "# a last word"))
        #expect(try text(path) == Self.written[..<start.lowerBound] + Self.written[end.lowerBound...])
    }

    @Test(arguments: [
        "", "\n", "# only a comment", "timeout = 60\r\n",
        "[[rule]]\nurl=\"https://z.example\"\nauthority=\"https://a/b\"\nscopes=[\"s\"]",
    ])
    func `what is added and removed again leaves the file as it was`(before: String) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/config.toml"
        try before.write(toFile: path, atomically: true, encoding: .utf8)
        try TableFile<Rule>(reading: path).add(try rule("https://d.example"), schema: nil)
        let file = try TableFile<Rule>(reading: path)
        try file.remove(try #require(file.tables.last))
        let after = try text(path)
        #expect(after.trimmingCharacters(in: .newlines) == before.trimmingCharacters(in: .newlines))
        #expect(after.contains("\r") == before.contains("\r"))
    }

    @Test func `tables within a rule go with it`() throws {
        let blocks = try TableBlocks(
            of: "rule", file: "f", text: "[[rule]]\na = 1\n[rule.more]\nb = 2\n\n[policy]\n[[rule]]\nc = 3\n")
        #expect(blocks.removing(0) == "[policy]\n[[rule]]\nc = 3\n")
        #expect(blocks.removing(1) == "[[rule]]\na = 1\n[rule.more]\nb = 2\n\n[policy]\n")
    }

    @Test func `a missing file is made for nobody else to read, with a line for editors`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/a/b/config.toml"
        try TableFile<Rule>(reading: path).add(try rule("https://d.example"), schema: "file:///x/config.schema.json")
        #expect(try text(path) == "#:schema file:///x/config.schema.json\n\n" + rule("https://d.example").toml)
        for (place, mode) in [(path, 0o600), (folder + "/a", 0o700), (folder + "/a/b", 0o700)] {
            let found = try FileManager.default.attributesOfItem(atPath: place)[.posixPermissions] as? Int
            #expect(found == mode)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/a/b") == ["config.toml"])
    }

    @Test func `a link stays a link, and its file keeps its mode`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let files = FileManager.default
        try files.createDirectory(atPath: folder + "/dotfiles", withIntermediateDirectories: true)
        try files.createSymbolicLink(atPath: folder + "/config.toml", withDestinationPath: "dotfiles/lanyard.toml")
        try TableFile<Rule>(reading: folder + "/config.toml").add(try rule("https://d.example"), schema: nil)
        try files.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder + "/dotfiles/lanyard.toml")
        try TableFile<Rule>(reading: folder + "/config.toml").add(try rule("https://e.example"), schema: nil)
        #expect(try files.destinationOfSymbolicLink(atPath: folder + "/config.toml") == "dotfiles/lanyard.toml")
        let file = folder + "/dotfiles/lanyard.toml"
        #expect(try files.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o644)
        #expect(try TableFile<Rule>(reading: file).tables.count == 2)
    }

    @Test func `rules in another form are left alone, with what to type`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/config.toml"
        let before = #"rule = [{ url = "https://z.example", authority = "https://a/b", scopes = ["s"] }]"#
        try before.write(toFile: path, atomically: true, encoding: .utf8)
        let file = try TableFile<Rule>(reading: path)
        #expect(throws: SettingsError.self) { try file.remove(try #require(file.tables.first)) }
        #expect(throws: SettingsError.self) { try file.add(try rule("https://d.example"), schema: nil) }
        #expect(try text(path) == before)
    }

    @Test func `a file that changed meanwhile is not overwritten`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/config.toml"
        try "timeout = 60\n".write(toFile: path, atomically: true, encoding: .utf8)
        let file = try TableFile<Rule>(reading: path)
        try "timeout = 61\n".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(throws: SettingsError.self) { try file.add(try rule("https://d.example"), schema: nil) }
        #expect(try text(path) == "timeout = 61\n")
    }
}
