import Files
import Glibc
import PluginWire
import SettingsFile
import Terminal
import Testing

@testable import PluginHost

/// A plugin that can't be used keeps its authorities: no other plugin stands in for it.
@Suite struct UnusablePluginTests {
    /// Something that keeps the plugin `quill`, which serves `quill.example`, from being used.
    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// What is said about it.
        let message: String
        let breakIt: @Sendable (TestFolder) throws -> Void

        init(_ name: String, _ message: String, _ breakIt: @escaping @Sendable (TestFolder) throws -> Void) {
            testDescription = name
            self.message = message
            self.breakIt = breakIt
        }

        /// A fault in the manifest: one text is replaced by another.
        init(_ name: String, _ message: String, replacing old: String, with new: String) {
            self.init(name, message) { folder in
                try folder.write("own/quill/plugin.toml", UnusablePluginTests.manifest.replacing(old, with: new))
            }
        }
    }

    static let manifest = """
        name = "quill"
        version = "1"
        description = "d"
        protocols = ["v1"]
        executable = "quill.sh"
        kind = "quill"
        [[authority]]
        hosts = ["quill.example"]
        path = "/{realm}"

        """

    static let faults = [
        Fault("not executable", "is not executable") { chmod($0.path + "/own/quill/quill.sh", 0o644) },
        Fault("no program", "does not exist") { unlink($0.path + "/own/quill/quill.sh") },
        Fault("a folder", "quill.sh is a folder") { folder in
            unlink(folder.path + "/own/quill/quill.sh")
            mkdir(folder.path + "/own/quill/quill.sh", 0o755)
        },
        Fault("a link to nothing", "quill.sh is a link to a file that does not exist") { folder in
            unlink(folder.path + "/own/quill/quill.sh")
            symlink("gone.sh", folder.path + "/own/quill/quill.sh")
        },
        Fault("a link out of the folder", "is a link that leads out of the plugin's folder") { folder in
            try folder.write("own/quill/plugin.toml", manifest.replacing("quill.sh", with: "./quill.sh"))
            unlink(folder.path + "/own/quill/quill.sh")
            symlink("/bin/true", folder.path + "/own/quill/quill.sh")
        },
        Fault("no interpreter", "its interpreter /none/python3 is not installed") { folder in
            try folder.write("own/quill/quill.sh", "#!/none/python3 -I\n", mode: 0o755)
        },
        Fault("an interpreter without its path", "its interpreter python3 is no absolute path") { folder in
            try folder.write("own/quill/quill.sh", "#!python3\n", mode: 0o755)
        },
        Fault("a byte order mark", "begins with a byte order mark") { folder in
            try folder.write("own/quill/quill.sh", "\u{FEFF}#!/bin/sh\n", mode: 0o755)
        },
        Fault("Windows line ends", "its first line ends in a carriage return") { folder in
            try folder.write("own/quill/quill.sh", "#!/bin/sh\r\nexit 0\r\n", mode: 0o755)
        },
        Fault("no interpreter for env", "its interpreter no-such-python is not installed") { folder in
            try folder.write("own/quill/quill.sh", "#!/usr/bin/env no-such-python\n", mode: 0o755)
        },
        Fault("another's folder", "could have been written by another user") { chmod($0.path + "/own/quill", 0o777) },
        Fault("another's manifest", "could have been written by another user") { folder in
            chmod(folder.path + "/own/quill/plugin.toml", 0o666)
        },
        Fault("another's program", "could have been written by another user") { folder in
            chmod(folder.path + "/own/quill/quill.sh", 0o777)
        },
        Fault("another name", "differs from its folder's", replacing: "\"quill\"\nversion", with: "\"pen\"\nversion"),
        Fault("another protocol", "the plugin speaks v9", replacing: "v1", with: "v9"),
        Fault("a missing key", "unknown key `exec`", replacing: "executable", with: "exec"),
        Fault("a key of another type", "must be a string", replacing: "version = \"1\"", with: "version = 1"),
        Fault("a URL for a host", "which can't be used", replacing: "[\"quill", with: "[\"https://quill"),
        Fault("a host's usual port", "which can't be used", replacing: "quill.example", with: "quill.example:443"),
        Fault("a host with a path", "which can't be used", replacing: "quill.example", with: "Quill.example/r/"),
        Fault("blanks around a host", "which can't be used", replacing: "quill.example", with: " quill.example "),
        Fault("a host's final dot", "which can't be used", replacing: "quill.example", with: "quill.example."),
        Fault("a host without a list", "must be a list", replacing: "[\"quill.example\"]", with: "\"quill.example\""),
        Fault("a path that is none", "not segments such as", replacing: "/{realm}", with: "{realm}"),
        Fault("no path", "`path` is missing", replacing: "path = \"/{realm}\"", with: ""),
        Fault("a table for a list of tables", "must be tables", replacing: "[[authority]]", with: "[authority]"),
        Fault(
            "a row that is left out", "this [[authority]] is left out", replacing: "path =", with: "colour = 1\npath ="),
    ]

    /// A folder with `quill`, and with `any`, which serves any host that the configuration names.
    private func folder() throws -> TestFolder {
        let folder = try TestFolder()
        try folder.write("own/quill/plugin.toml", Self.manifest)
        try folder.write("own/quill/quill.sh", "#!/bin/sh\n", mode: 0o755)
        let rows =
            "[[authority]]\nhosts = [\"*\"]\npath = \"/{path}\"\n[[authority]]\nhosts = [\"*\"]\npath = \"/{realm}\"\n"
        let text = "name = \"any\"\nversion = \"1\"\ndescription = \"d\"\nprotocols = [\"v1\"]\nexecutable = \"any\"\n"
        try folder.write("own/any/plugin.toml", text + rows)
        try folder.write("own/any/any", "#!/bin/sh\n", mode: 0o755)
        return folder
    }

    private func registry(_ folder: TestFolder) -> PluginRegistry {
        PluginRegistry.discover(
            environment: ["LANYARD_PLUGIN_PATH": "\(folder.path)/own:\(folder.path)/system"],
            executable: "/nowhere/lanyard")
    }

    @Test(arguments: faults)
    func `it keeps its authorities`(_ fault: Fault) async throws {
        let folder = try folder()
        let fine = try #require(registry(folder).match(authority: "https://quill.example/r", isConfigured: true))
        #expect(fine.plugin.name == "quill" && fine.plugin.problem == nil)
        try fault.breakIt(folder)
        let registry = registry(folder)
        for kind in [nil, "quill"] where kind == nil || fault.testDescription != "a row that is left out" {
            let match = try #require(
                registry.match(authority: "https://quill.example/r", kind: kind, isConfigured: true))
            #expect(match.plugin.name == "quill" && match.plugin.problem?.message.text.contains(fault.message) == true)
            let error = await #expect(throws: PluginError.self) {
                try await PluginRunner(environment: [:]).run(.sample(.renew), on: match, user: FakeUser())
            }
            #expect(
                error?.message.hasPrefix("the quill plugin can't be used: ") == true, "\(String(describing: error))")
        }
        let other = try #require(registry.match(authority: "https://other.example/r", isConfigured: true))
        #expect(other.plugin.name == "any" && other.isByWildcard)
        #expect(registry.unreadable.isEmpty)
    }

    @Test(arguments: [
        Fault("not TOML", "not valid TOML") { try $0.write("own/quill/plugin.toml", "name = \n") },
        Fault("not UTF-8", "is not UTF-8") { folder in
            let file = try #require(fopen(folder.path + "/own/quill/plugin.toml", "w"))
            fputc(0xFF, file)
            fclose(file)
        },
        Fault("a link to nothing", "is a link to a file that does not exist") { folder in
            unlink(folder.path + "/own/quill/plugin.toml")
            folder.link("own/quill/plugin.toml", to: "/none/plugin.toml")
        },
        Fault("a folder of the wrong kind", "cannot be read") { folder in
            unlink(folder.path + "/own/quill/plugin.toml")
            mkdir(folder.path + "/own/quill/plugin.toml", 0o755)
        },
        Fault("a capital", "is not called plugin.toml") { folder in
            rename(folder.path + "/own/quill/plugin.toml", folder.path + "/own/quill/Plugin.toml")
        },
        Fault("empty", "`name` is missing") { try $0.write("own/quill/plugin.toml", "") },
        Fault("no hosts", "must hold at least one string", replacing: "\"quill.example\"", with: ""),
        Fault("a host that is none", "which can't be used", replacing: "quill.example", with: "quill.example:x"),
        Fault(
            "a second host that is none", "which can't be used", replacing: "quill.example", with: "a.example\", \"x:y"),
    ])
    func `one whose hosts can't be read is known by name`(_ fault: Fault) throws {
        let folder = try folder()
        try fault.breakIt(folder)
        let registry = registry(folder)
        #expect(registry.unreadable.map(\.plugin) == ["quill"])
        #expect(registry.unreadable.first?.message.text.contains(fault.message) == true)
        let match = try #require(registry.match(authority: "https://quill.example/r", isConfigured: true))
        #expect(match.plugin.name == "any" && match.isByWildcard)
    }

    @Test(arguments: [
        ("hosts =", "host =", "unknown key `host`: this [[authority]] is left out"),
        ("[[authority]]", "[[authorities]]", "unknown key `authorities`"),
        ("[[authority]]\nhosts = [\"quill.example\"]\npath = \"/{realm}\"\n", "", "has no [[authority]], [[source]]"),
    ])
    func `one whose authorities nobody can tell is known by name`(_ old: String, _ new: String, _ text: String) throws {
        let folder = try folder()
        try folder.write("own/quill/plugin.toml", Self.manifest.replacing(old, with: new))
        let registry = registry(folder)
        for problems in [registry.problems, registry.unreadable] {
            #expect(problems.map(\.plugin) == ["quill"] && problems.first?.message.text.contains(text) == true)
        }
        #expect(registry.notes.isEmpty)
        // `lanyard plugin check` says more.
        #expect(registry.plugins.contains { $0.name == "quill" })
    }

    @Test func `a part of one that is left out is a problem`() throws {
        let folder = try folder()
        let row = "[[authority]]\nhosts = [\"ink.example\"]\npath = \"/{realm}\"\nrealm = [\"a\"]\n"
        try folder.write("own/quill/plugin.toml", Self.manifest + row)
        let registry = registry(folder)
        #expect(registry.problems.map(\.plugin) == ["quill"] && registry.unreadable.isEmpty)
        let match = try #require(registry.match(authority: "https://ink.example/r", isConfigured: true))
        #expect(match.plugin.name == "quill" && match.plugin.problem != nil)
    }

    @Test(arguments: [false, true])
    func `it hides one of the same name that is found later`(_ isReadable: Bool) throws {
        let folder = try folder()
        try folder.write("system/quill/plugin.toml", Self.manifest)
        try folder.write("system/quill/quill.sh", "#!/bin/sh\n", mode: 0o755)
        if isReadable {
            chmod(folder.path + "/own/quill/quill.sh", 0o644)
        } else {
            try folder.write("own/quill/plugin.toml", "[")
        }
        let registry = registry(folder)
        #expect(!registry.plugins.contains { $0.name == "quill" })
        let match = try #require(registry.match(authority: "https://quill.example/r", isConfigured: true))
        #expect(match.plugin.problem?.file.hasPrefix(folder.path + "/own/quill") == true)
    }

    @Test func `a plugin that hides another one of its name is said to`() throws {
        let folder = try folder()
        try folder.write("system/quill/plugin.toml", Self.manifest)
        try folder.write("system/quill/quill.sh", "#!/bin/sh\n", mode: 0o755)
        let precedences = registry(folder).precedences
        #expect(
            precedences.map(\.text.text) == [
                "quill in \(folder.path)/own/quill hides the plugin in \(folder.path)/system/quill"
            ])
        #expect(registry(folder).precedences(with: try #require(precedences.first).plugin) == precedences)
    }

    @Test func `only lanyard's own plugins beside its own program ship with it`() throws {
        let folder = try TestFolder()
        let program = try folder.write("pre/bin/lanyard", "", mode: 0o755)
        try folder.write("pre/lib/lanyard/lanyard-authority", "", mode: 0o755)
        let text = { (name: String, program: String) in
            "name = \"\(name)\"\nversion = \"1\"\ndescription = \"d\"\nprotocols = [\"v1\"]\nexecutable = \"\(program)\"\n"
        }
        try folder.write("pre/lib/lanyard/plugins/own/plugin.toml", text("own", "lanyard-authority"))
        try folder.write("pre/lib/lanyard/plugins/packaged/plugin.toml", text("packaged", "prog"))
        try folder.write("pre/lib/lanyard/plugins/packaged/prog", "", mode: 0o755)
        try folder.write("users/alike/plugin.toml", text("alike", "lanyard-authority"))
        let registry = PluginRegistry.discover(
            environment: ["LANYARD_PLUGIN_PATH": folder.path + "/users"], executable: program)
        let origins = registry.plugins.reduce(into: [:]) { $0[$1.name] = $1.origin ?? "lanyard" }
        #expect(origins == ["own": "lanyard", "packaged": "packaged", "alike": "alike"])
    }
}
