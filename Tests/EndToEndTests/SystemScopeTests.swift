import Foundation
import TestSupport
import Testing

/// `--system` of `configure git`, `unconfigure git` and `rule`: settings for all users of the machine.
@Suite struct SystemScopeTests {
    private static let url = "https://git.contoso.example/team"
    private static let everybodys = "11111111-2222-3333-4444-555555555555"
    private static let options = [
        "--authority", "https://login.microsoftonline.com/contoso.com", "--client-id", everybodys, "--scope",
        "api://git/.default",
    ]

    @Test func `a rule for everybody is everybody's to read`() async throws {
        try await Home.with { home in
            let added = try await home.system(["rule", "add", "--system", Self.url] + Self.options)
            #expect(added.status == 0, "\(added)")
            #expect(added.errors.contains("added a rule for \(Self.url) to /etc/lanyard/config.toml\n"), "\(added)")
            #expect(added.errors.contains("yet: lanyard configure git --system \(Self.url)\n"), "\(added)")
            #expect(try home.text(home.systemFile).contains("client-id = \"\(Self.everybodys)\"\n"))
            #expect(try home.permissions(home.systemFile) == 0o644)
            #expect(try home.permissions(home.folder + "/etc/lanyard") == 0o755)
            #expect(!FileManager.default.fileExists(atPath: home.configFile))

            let own = try await home.system(["rule", "remove", Self.url])
            #expect(own.status == 1 && own.errors.contains("there is no rule for \(Self.url) in "), "\(own)")
            #expect(
                own.errors.contains(
                    "all users at /etc/lanyard/config.toml:3: sudo lanyard rule remove --system \(Self.url)\n"),
                "\(own)")
            let again = ["rule", "add", "--system", Self.url] + Self.options
            let same = try await home.system(again)
            #expect(same.status == 0 && same.errors.contains("is there already"), "\(same)")
            let twice = try await home.system(again + ["--scope", "another"])
            #expect(twice.status == 1, "\(twice)")
            #expect(twice.errors.hasSuffix("remove it first: lanyard rule remove --system \(Self.url)\n"), "\(twice)")
            let removed = try await home.system(["rule", "remove", "--system", Self.url])
            #expect(removed.status == 0, "\(removed)")
            #expect(try !home.text(home.systemFile).contains("[[rule]]"))
        }
    }

    @Test(arguments: [
        ["rule", "add", "--system", url],
        ["configure", "git", "--system", "--yes", url],
    ])
    func `nothing of who runs it is relied on`(command: [String]) async throws {
        try await Home.with { home in
            let mine = "66666666-7777-8888-9999-000000000000"
            try home.write(
                "client-id = \"\(mine)\"\nauthority = \"https://login.microsoftonline.com/mine\"\n", to: home.configFile
            )
            try home.write("", to: home.systemGitFile)
            let own = ["LANYARD_CLIENT_ID": mine]
            let none = try await home.system(command + Self.options.suffix(2), own)
            #expect(none.status == 1 && none.errors.contains("a rule needs an authority"), "\(none)")
            let some = try await home.system(command + Self.options.prefix(2) + Self.options.suffix(2), own)
            #expect(some.status == 1 && some.errors.contains("no client ID is configured"), "\(some)")
            #expect(!FileManager.default.fileExists(atPath: home.systemFile))
        }
    }

    @Test func `a plugin that only who runs it has is no reason for a rule that everybody gets`() async throws {
        try await Home.with { home in
            let place = home.folder + "/data/lanyard/plugins/mine"
            try home.write(
                """
                name = "mine"
                version = "1.0.0"
                description = "one of my own"
                protocols = ["v1"]
                executable = "/bin/true"
                kind = "mine"
                flows = ["browser"]
                [[authority]]
                hosts = ["login.mine.example"]
                path = "/{policy}/{realm}/x"
                """, to: place + "/plugin.toml")
            let rule =
                [Self.url, "--authority", "https://login.mine.example/a/b/x", "--kind", "mine"] + Self.options.suffix(4)
            let data = ["XDG_DATA_HOME": home.folder + "/data"]
            let own = try await home.system(["rule", "add"] + rule, data)
            #expect(own.status == 0, "\(own)")
            let everybodys = try await home.system(["rule", "add", "--system"] + rule, data)
            #expect(everybodys.status == 64 && everybodys.errors.contains("knows the kind mine\n"), "\(everybodys)")
        }
    }

    @Test func `the system's policy locks users' rules, not its own`() async throws {
        try await Home.with { home in
            let policy = "client-id = \"\(Self.everybodys)\"\n\n[policy]\nlock = [\"rule\"]\n"
            try home.write(policy, to: home.systemFile)
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: home.systemFile)
            let options = Array(Self.options.prefix(2) + Self.options.suffix(2))
            #expect(try await home.system(["rule", "add", Self.url] + options).status == 1)
            let added = try await home.system(["rule", "add", "--system", Self.url] + options)
            #expect(added.status == 0, "\(added)")
            let text = try home.text(home.systemFile)
            #expect(text.hasPrefix(policy + "\n[[rule]]\n") && !text.dropFirst(policy.count).contains("client-id"))
            #expect(try home.permissions(home.systemFile) == 0o640)
        }
    }

    @Test func `git and the rule are configured for everybody, and git is taken back`() async throws {
        try await Home.with { home in
            try home.write("", to: home.systemGitFile)
            // The user's own settings aren't those of all users.
            #expect(try await home.lanyard(["configure", "git", "--yes"]).status == 0)
            let own = try home.text(home.gitFile)
            let configured = try await home.system(["configure", "git", "--system", "--yes", Self.url] + Self.options)
            #expect(configured.status == 0, "\(configured)")
            #expect(configured.errors.contains("this is added to /etc/lanyard/config.toml:\n"), "\(configured)")
            #expect(configured.errors.hasSuffix("next, for each who needs it: lanyard login \(Self.url)\n"))
            let git = try home.text(home.systemGitFile)
            #expect(git.contains("[credential \"https://git.contoso.example\"]\n\thelper = lanyard\n"))
            #expect(git.contains("\tuseHttpPath = true\n"))
            #expect(try home.text(home.systemFile).contains("url       = \"\(Self.url)\"\n"))
            #expect(try home.text(home.gitFile) == own)
            #expect(!FileManager.default.fileExists(atPath: home.configFile))
            let record = home.folder + "/etc/lanyard/git-changes.json"
            #expect(try home.permissions(record) == 0o644)
            #expect(try home.permissions(home.folder + "/etc/lanyard") == 0o755)
            let shown = try await home.system(["unconfigure", "git", "--dry-run", "--system"], ["ORDINARY_USER": "1"])
            #expect(shown.status == 0 && shown.errors.contains("      helper = lanyard\n"), "\(shown)")
            let back = try await home.system(["unconfigure", "git", "--yes", "--system"])
            #expect(back.status == 0, "\(back)")
            #expect(!FileManager.default.fileExists(atPath: record))
            #expect(
                back.errors.hasSuffix(
                    "lanyard: the rule for \(Self.url) stays in /etc/lanyard/config.toml; "
                        + "to remove it: lanyard rule remove --system \(Self.url)\n"), "\(back)")
            #expect(try home.text(home.systemGitFile).isEmpty)
            #expect(try home.text(home.gitFile) == own)
        }
    }

    @Test(arguments: [
        (
            ["rule", "add", "--system", url, "--resource", "Azure DevOps"],
            "/etc/lanyard/config.toml: cannot be written"
        ),
        (["rule", "remove", "--system", "https://old.example"], "/etc/lanyard/config.toml: cannot be written"),
        (["configure", "git", "--system"], "git failed while opening its configuration to write"),
        (["configure", "git", "--system", url, "--scope", "it's/.default"], "git failed while opening"),
        (["unconfigure", "git", "--system", "old.example"], "git failed while opening its configuration to write"),
    ])
    func `who may not write it is told before any question, with the whole command line`(
        command: [String], message: String
    ) async throws {
        try await Home.with { home in
            try home.write("", to: home.systemGitFile)
            #expect(
                try await home.system(["configure", "git", "--system", "--yes", "https://old.example"]).status == 0)
            let rule =
                "client-id = \"id\"\n[[rule]]\nurl = \"https://old.example\"\n"
                + "authority = \"https://login.microsoftonline.com/x\"\nscopes = [\"a\"]\n"
            try home.write(rule, to: home.systemFile)
            for folder in ["/etc", "/etc/lanyard"] {
                try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: home.folder + folder)
            }
            let ended = try await home.systemAtTerminal(command)
            for folder in ["/etc", "/etc/lanyard"] {
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: home.folder + folder)
            }
            #expect(ended.status == 1, "\(ended)")
            let text = ended.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(text.contains("lanyard: error: \(message)"), "\(ended)")
            let words = command.map {
                $0.contains(" ") ? "'\($0)'" : $0.replacing("it's/.default", with: "'it'\\''s/.default'")
            }
            // The program's folder may have a blank.
            let commands = ["lanyard ", "lanyard' "].map { $0 + words.joined(separator: " ") + "\n" }
            #expect(commands.contains { ended.output.contains($0) }, "\(ended)")
            #expect(
                text.contains("lanyard: hint: only root can change it: sudo ") && !text.contains("[Y/n]"), "\(ended)")
            #expect(try home.text(home.systemFile) == rule)
        }
    }

    @Test func `a dry run for everybody needs no right to write`() async throws {
        try await Home.with { home in
            try FileManager.default.createDirectory(
                atPath: home.folder + "/etc", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o555])
            let shown = try await home.system(
                ["configure", "git", "--system", "--dry-run", Self.url] + Self.options, ["ORDINARY_USER": "1"])
            #expect(shown.status == 0, "\(shown)")
            #expect(shown.errors.contains("this would be added to git's system configuration:\n"), "\(shown)")
            #expect(shown.errors.contains("this would be added to /etc/lanyard/config.toml:\n"), "\(shown)")
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: home.folder + "/etc").filter {
                    !$0.hasSuffix(".so")
                } == [])
        }
    }

    @Test func `completion offers the rules that can be removed there`() async throws {
        try await Home.with { home in
            let everybodys = ["https://everybody.example"] + Self.options
            #expect(try await home.system(["rule", "add", "--system"] + everybodys).status == 0)
            #expect(try await home.system(["rule", "add", Self.url] + Self.options).status == 0)
            for (line, url) in [("rule remove ", Self.url), ("rule remove --system ", "https://everybody.example")] {
                let words = line.split(separator: " ").map(String.init) + [""]
                let offered = try await answered { try await home.system(["complete", "fish", "lanyard"] + words) }
                let values = offered.lines.dropFirst().map { $0.prefix { $0 != "\t" } }
                #expect(values == [url[...]], "\(offered)")
            }
        }
    }

    @Test func `unconfigure tells of the user's own rules`() async throws {
        try await Home.with { home in
            for url in [Self.url, "https://other.example"] {
                #expect(try await home.lanyard(["configure", "git", "--yes", url] + Self.options).status == 0)
            }
            let one = try await home.lanyard(["unconfigure", "git", "--yes", Self.url])
            #expect(one.errors.contains("the rule for \(Self.url) stays in "), "\(one)")
            #expect(one.errors.hasSuffix("to remove it: lanyard rule remove \(Self.url)\n"), "\(one)")
            let all = try await home.lanyard(["unconfigure", "git", "--yes"])
            #expect(all.errors.contains("lanyard: 2 rules stay in "), "\(all)")
            #expect(all.errors.hasSuffix("such as the first: lanyard rule remove \(Self.url)\n"), "\(all)")
        }
    }
}

extension Home {
    /// The files that lanyard finds at /etc/lanyard/config.toml, and git at /etc/gitconfig.
    fileprivate var systemFile: String { folder + "/etc/lanyard/config.toml" }
    fileprivate var systemGitFile: String { folder + "/etc/gitconfig" }

    /// Returns an environment in which git's system configuration is a file of this home.
    private func inSystem(_ extra: [String: String]) async throws -> [String: String] {
        // Every machine has an /etc.
        try FileManager.default.createDirectory(
            atPath: folder + "/etc", withIntermediateDirectories: true)
        let probe = folder + "/probe"
        try write("[probe]\n\tis = here\n", to: probe)
        let led = environment.merging(["GIT_CONFIG_NOSYSTEM": "0"]) { $1 }
        let asked = try await run(
            "/usr/bin/git", ["config", "--system", "probe.is"],
            environment: led.merging(["GIT_CONFIG_SYSTEM": probe]) { $1 })
        // git before 2.32 would write to /etc.
        try #require(asked.output == "here\n")
        return led.merging(["GIT_CONFIG_SYSTEM": systemGitFile]) { $1 }.merging(extra) { $1 }
    }

    private static let script = Built.checkout + "/Tests/TestSupport/Scripts/with-system-file"

    fileprivate func system(_ arguments: [String], _ extra: [String: String] = [:]) async throws -> Ended {
        try await run(
            Self.script, [systemFile, "\(folder)/bin/lanyard"] + arguments, environment: try await inSystem(extra),
            folder: folder + "/home")
    }

    /// Runs lanyard at a terminal, as a user other than root.
    fileprivate func systemAtTerminal(_ arguments: [String]) async throws -> Ended {
        try await run(
            "\(Built.checkout)/Tests/TestSupport/Scripts/at-terminal",
            ["--", Self.script, systemFile, "\(folder)/bin/lanyard"] + arguments,
            environment: try await inSystem(["ORDINARY_USER": "1"]), folder: folder + "/home")
    }

    fileprivate func permissions(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
}
