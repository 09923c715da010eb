import Foundation
import TestSupport
import Testing

/// What `lanyard plugin new` writes works as it is.
@Suite struct NewPluginTests {
    @Test func `the tutorial shows what is written`() async throws {
        try await Home.with { home in
            let made = try await home.lanyard(["plugin", "new", "quill"])
            #expect(made.status == 0, "\(made)")
            let program = try home.text(home.folder + "/home/quill/quill.py")
            let tutorial = try home.text(Built.checkout + "/docs/plugin-tutorial.md")
            #expect(tutorial.contains("```python\n\(program)```\n"))
            #expect(program.split(separator: "\n").count <= 35)
        }
    }

    @Test(arguments: ["python", "sh", "swift"])
    func `a new plugin keeps to the protocol, and signs in at the made-up issuer`(_ language: String) async throws {
        try await World.with { world in
            let made = try await world.lanyard(["plugin", "new", "acme-login", "--language", language])
            #expect(made.status == 0, "\(made)")
            let folder = world.folder + "/work/acme-login"
            // The compiler may be anywhere.
            let path = "\(world.folder)/bin:" + (ProcessInfo.processInfo.environment["PATH"] ?? Programs.folder)
            let checked = try await run(
                folder + "/test.sh", [], environment: world.environment.merging(["PATH": path]) { $1 })
            #expect(checked.status == 0, "\(checked)")
            // What users set for their own curl isn't for the plugin's.
            let home = try #require(world.environment["HOME"])
            try "output = \"/dev/null\"\n".write(toFile: home + "/.curlrc", atomically: true, encoding: .utf8)
            let authority = "\(world.sandbox.issuer.url)/quill"
            for (code, status, text) in [
                ("4242", 0, "signed out"), ("0000", 1, "code=interaction-required"), ("503", 1, "code=unavailable"),
                ("429", 1, "code=unavailable"), ("401", 1, "code=interaction-required"),
            ] {
                let tried = try await world.atTerminal(
                    ["\(world.folder)/bin/lanyard", "plugin", "try", folder, authority, "--renew", "--sign-out"],
                    answering: [("code that your fob shows: ", code)])
                #expect(tried.status == status && tried.output.contains(text), "\(tried)")
                #expect(!tried.output.contains("quill-again-"), "\(tried)")
            }
            // Those of the request are trusted besides the system's.
            _ = try await world.git([
                "config", "--global", "http.sslCAInfo", "/etc/ssl/certs/ca-certificates.crt",
            ])
            let tried = try await world.atTerminal(
                ["/usr/bin/env", "SSL_CERT_FILE=\(world.sandbox.caFile)", "\(world.folder)/bin/lanyard"]
                    + ["plugin", "try", folder, authority],
                answering: [("code that your fob shows: ", "4242")])
            #expect(tried.status == 0 && tried.output.contains("signed in"), "\(tried)")
            let own = try await world.lanyard(["plugin", "new", "oauth"])
            #expect(own.status == 64 && own.errors.contains("lanyard has a plugin oauth of its own"), "\(own)")
            let again = try await world.lanyard(["plugin", "new", "acme-login"])
            #expect(again.status == 1 && again.errors.contains("File exists"), "\(again)")
        }
    }

    /// A home with the tutorial's plugin for a file of passwords, and with such a file.
    private static func withNotes(_ body: @escaping @Sendable (Home) async throws -> Void) async throws {
        try await Home.with { home in
            let tutorial = try home.text(Built.checkout + "/docs/plugin-tutorial.md")
            for (language, name) in [("toml", "plugin.toml"), ("sh", "notes.sh")] {
                let start = try #require(tutorial.range(of: "```\(language)\n"))
                let end = try #require(tutorial.range(of: "```", range: start.upperBound..<tutorial.endIndex))
                try home.write(
                    String(tutorial[start.upperBound..<end.lowerBound]), to: "\(home.folder)/home/notes/\(name)")
            }
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755], ofItemAtPath: home.folder + "/home/notes/notes.sh")
            try home.write("git.example.com carol geheim\n", to: home.folder + "/home/.notes")
            try await body(home)
        }
    }

    @Test(arguments: [
        ([], 0, "found a user name, a secret"), (["--source", "notes"], 0, "found a user name, a secret"),
        (["--source", "notes:work"], 1, "notes looks passwords up, and nothing else"),
        (["--source", "note"], 64, "no [[source]] of notes is called note"),
        (["--source", "notes", "--renew"], 64, "give --source, or --renew and --sign-out"),
    ])
    func `a source is tried as a rule would name it`(_ options: [String], _ status: Int32, _ text: String) async throws
    {
        try await Self.withNotes { home in
            let tried = try await home.lanyard(
                ["plugin", "try", "./notes", "https://git.example.com"] + options)
            #expect(tried.status == status && tried.errors.contains(text), "\(tried)")
            #expect(!(tried.output + tried.errors).contains("geheim"), "\(tried)")
        }
    }

    @Test func `a folder without a slash is no installed plugin`() async throws {
        try await Self.withNotes { home in
            for command in [["check", "notes"], ["try", "notes", "https://git.example.com"]] {
                let ended = try await home.lanyard(["plugin"] + command)
                #expect(ended.errors.contains("no plugin notes is installed"), "\(ended)")
                #expect(ended.errors.contains("for the folder of that name here, write ./notes"), "\(ended)")
            }
            let other = try await home.lanyard(["plugin", "try", "./notes", "https://elsewhere.example"])
            #expect(other.status == 1 && other.errors.contains("no line for elsewhere.example"), "\(other)")
        }
    }

    @Test func `a plugin that answers in the place of another one is named`() async throws {
        try await Self.withNotes { home in
            let plugins = home.folder + "/home/plugins"
            let home = home.with(["LANYARD_PLUGIN_PATH": "\(plugins):\(home.folder)/home"])
            let manifest = try home.text(home.folder + "/home/notes/plugin.toml")
            let rows = "[[authority]]\nhosts = [\"github.com\"]\npath = \"/{path}\"\n"
            let program = try home.text(home.folder + "/home/notes/notes.sh")
            for (name, text) in [("notes", manifest), ("papers", manifest.replacing("notes", with: "papers") + rows)] {
                try home.write(text, to: "\(plugins)/\(name)/plugin.toml")
                try home.write(program, to: "\(plugins)/\(name)/\(name).sh")
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o755], ofItemAtPath: "\(plugins)/\(name)/\(name).sh")
            }
            let hides = "notes in \(plugins)/notes hides the plugin in \(home.folder)/home/notes"
            let before = "papers answers for github.com before oauth"
            for (command, texts) in [
                (["plugin", "list"], [hides, before]), (["doctor"], [hides, before]),
                (["plugin", "check", "notes"], [hides]), (["plugin", "check", "papers"], [before]),
            ] {
                let ended = try await home.lanyard(command)
                // Lines are as wide as a terminal's.
                let words = (ended.output + ended.errors).split { " \n".contains($0) }.joined(separator: " ")
                for text in texts { #expect(words.contains(text), "\(ended)") }
            }
            try home.write(
                "[[rule]]\nurl = \"https://github.com\"\nauthority = \"https://github.com\"\nclient-id = \"x\"\nscopes = [\"x\"]\n",
                to: home.folder + "/config/lanyard/config.toml")
            let explained = try await home.lanyard(["explain", "https://github.com/contoso/code"])
            #expect(explained.output.contains("papers 1, before oauth"), "\(explained)")
        }
    }
}
