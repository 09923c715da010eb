import Foundation
import TestSupport
import Testing

/// `configure git` and `unconfigure git`, with the real git.
@Suite struct ConfigureGitTests {
    private static let client = "11111111-2222-3333-4444-555555555555"
    private static let mine = """
        # dotfiles of mine
        [user]
        \tname = Alice  ; me
        [credential "https://dev.azure.com"]
        \t# keep this
        \tusername = contoso
        [credential]
        \thelper = cache --timeout 60
        """ + "\n"

    @Test func `what configure wrote, unconfigure takes back to the byte`() async throws {
        try await Home.with { home in
            try home.write(Self.mine, to: home.gitFile)
            for _ in 0..<2 {
                let ended = try await home.lanyard(["configure", "git", "--yes"])
                #expect(ended.status == 0 && ended.output.isEmpty, "\(ended)")
                #expect(ended.errors.contains("for every URL, git asks in this order: cache, lanyard\n"), "\(ended)")
                #expect(ended.errors.contains("cache may keep the tokens"), "\(ended)")
            }
            #expect(
                try await home.git(["config", "--get-all", "credential.helper"]).lines
                    == ["cache --timeout 60", "lanyard"])
            #expect(try await home.git(["config", "credential.https://dev.azure.com.useHttpPath"]).lines == ["true"])
            #expect(try await home.lanyard(["unconfigure", "git", "--yes"]).status == 0)
            #expect(try home.text(home.gitFile) == Self.mine)
            let again = try await home.lanyard(["unconfigure", "git", "--yes"])
            #expect(again.status == 0)
            #expect(again.errors == "lanyard: there is nothing that lanyard configure git wrote\n")
        }
    }

    @Test func `a file that was made for it goes with the last value`() async throws {
        try await Home.with { home in
            let urls = ["https://a.example", "https://b.example"]
            for url in urls { try await home.lanyard(["configure", "git", "--yes", url]) }
            for url in urls {
                #expect(FileManager.default.fileExists(atPath: home.gitFile))
                try await home.lanyard(["unconfigure", "git", "--yes", url])
            }
            #expect(!FileManager.default.fileExists(atPath: home.gitFile))
            try home.write("", to: home.gitFile)
            try await home.lanyard(["configure", "git", "--yes"])
            try await home.lanyard(["unconfigure", "git", "--yes"])
            #expect(try home.text(home.gitFile).isEmpty)
        }
    }

    @Test func `what the user wrote around it stays`() async throws {
        try await Home.with { home in
            try await home.git(["config", "--global", "credential.https://dev.azure.com.useHttpPath", "true"])
            try await home.lanyard(["configure", "git", "--yes"])
            try await home.git(["config", "--global", "--add", "credential.helper", "store"])
            try await home.git(["config", "--global", "credential.https://x.example.helper", "lanyard --flow browser"])
            let ended = try await home.lanyard(["unconfigure", "git", "--yes"])
            #expect(ended.errors.contains("credential.https://x.example.helper still names lanyard"), "\(ended)")
            #expect(
                try await home.git(["config", "--global", "--list"]).lines == [
                    "credential.https://dev.azure.com.usehttppath=true", "credential.helper=store",
                    "credential.https://x.example.helper=lanyard --flow browser",
                ])
        }
    }

    @Test func `taking one URL out brings up no other, and nothing that is recorded`() async throws {
        try await Home.with { home in
            let urls = ["https://a.example", "https://b.example"]
            for url in urls { try await home.lanyard(["configure", "git", "--yes", url]) }
            let shown = try await home.lanyard(["unconfigure", "git", "--dry-run"])
            #expect(shown.status == 0 && !shown.errors.contains("still names"), "\(shown)")
            try await home.git(["config", "--global", "credential.https://c.example.helper", "lanyard"])
            let one = try await home.lanyard(["unconfigure", "git", "--yes", urls[0]])
            #expect(one.status == 0 && !one.errors.contains("still names"), "\(one)")
            #expect(try await home.git(["config", "credential.\(urls[1]).helper"]).lines == ["lanyard"])
            let own = try await home.lanyard(["unconfigure", "git", "--yes", "https://C.example/x"])
            #expect(own.errors.contains("credential.https://c.example.helper still names lanyard"), "\(own)")
        }
    }

    @Test func `what the user moved to another file is theirs, and they are told how to remove it`() async throws {
        try await Home.with { home in
            try await home.lanyard(["configure", "git", "--yes"])
            let moved = try home.text(home.gitFile)
            let file = home.folder + "/home/dotfiles/git"
            try home.write(moved, to: file)
            try home.write("[include]\n\tpath = ~/dotfiles/git\n", to: home.gitFile)
            let again = try await home.lanyard(["configure", "git", "--yes"])
            #expect(again.errors.contains("git is configured already"), "\(again)")
            let back = try await home.lanyard(["unconfigure", "git", "--yes"])
            let command = "git config --file \(file) --unset-all credential.helper lanyard\n"
            #expect(back.status == 0 && back.errors.contains("to remove it: \(command)"), "\(back)")
            #expect(try home.text(file) == moved)
            #expect(try home.text(home.gitFile) == "[include]\n\tpath = ~/dotfiles/git\n")
        }
    }

    @Test func `a linked gitconfig stays a link`() async throws {
        try await Home.with { home in
            try home.write(Self.mine, to: home.folder + "/home/dotfiles/gitconfig")
            try FileManager.default.createSymbolicLink(
                atPath: home.gitFile, withDestinationPath: "dotfiles/gitconfig")
            #expect(try await home.lanyard(["configure", "git", "--yes"]).status == 0)
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: home.gitFile) == "dotfiles/gitconfig")
            #expect(try home.text(home.gitFile).contains("helper = lanyard"))
            #expect(try await home.lanyard(["unconfigure", "git", "--yes"]).status == 0)
            #expect(try home.text(home.folder + "/home/dotfiles/gitconfig") == Self.mine)
        }
    }

    @Test func `for one host, with its rule, and alone`() async throws {
        try await Home.with { home in
            try await home.git(["config", "--global", "credential.helper", "store"])
            let url = "https://git.contoso.example/team"
            let options = [
                "--authority", "https://login.microsoftonline.com/contoso.com", "--client-id",
                Self.client, "--scope", "a/.default",
            ]
            let ended = try await home.lanyard(["configure", "git", "--yes", url, "--only"] + options)
            #expect(ended.status == 0, "\(ended)")
            #expect(
                ended.errors.contains("for https://git.contoso.example, git asks in this order: lanyard\n"), "\(ended)")
            #expect(ended.errors.hasSuffix("lanyard: next: lanyard login \(url)\n"), "\(ended)")
            let place = "credential.https://git.contoso.example"
            #expect(try await home.git(["config", "--get-all", "\(place).helper"]).output == "\nlanyard\n")
            #expect(try await home.git(["config", "\(place).useHttpPath"]).lines == ["true"])
            #expect(try home.text(home.configFile).contains("url       = \"\(url)\"\n"))
            let same = try await home.lanyard(["configure", "git", "--yes", url] + options)
            #expect(same.status == 0 && same.errors.contains("nothing has to be changed"), "\(same)")
            let twice = try await home.lanyard(["configure", "git", "--yes", url, "--scope", "b/.default"] + options)
            #expect(twice.status == 1 && twice.errors.contains("there is a rule for \(url) already"), "\(twice)")
            #expect(twice.errors.contains("remove it first: lanyard rule remove \(url)\n"), "\(twice)")
            #expect(try await home.lanyard(["unconfigure", "git", "--yes", url]).status == 0)
            #expect(try home.text(home.gitFile) == "[credential]\n\thelper = store\n")
        }
    }

    @Test(arguments: [("", true), ("n", false)])
    func `where another helper would get tokens to keep, it offers to have lanyard asked alone`(
        answer: String, isAlone: Bool
    ) async throws {
        try await Home.with { home in
            try home.pretendGit("2.45.1")
            try await home.git(["config", "--global", "credential.helper", "store"])
            let url = "https://git.contoso.example"
            let options = ["--authority", "https://login.microsoftonline.com/contoso.com", "--client-id", Self.client]
            let ended = try await home.lanyardAtTerminal(
                ["configure", "git", url, "--scope", "a/.default"] + options,
                [("have git ask no other helper there, as with --only? [Y/n] ", answer), ("go on? [Y/n] ", "")])
            #expect(ended.output.contains("git 2.45.1 also passes lanyard's tokens to store"), "\(ended)")
            let helpers = try await home.git(["config", "--get-urlmatch", "credential.helper", url])
            #expect(helpers.output == "lanyard\n", "\(helpers)")
            let own = try await home.git(["config", "--get-all", "credential.\(url).helper"])
            #expect(own.output == (isAlone ? "\nlanyard\n" : "lanyard\n"))
            #expect(ended.output.contains("store may keep the tokens that git passes to it") == !isAlone, "\(ended)")
            #expect(try await home.lanyard(["unconfigure", "git", "--yes"]).status == 0)
            #expect(try home.text(home.gitFile) == "[credential]\n\thelper = store\n")
            // A git that supports bearer tokens tells other helpers not to store them.
            try home.pretendGit("2.46.0")
            let newer = try await home.lanyard(["configure", "git", url, "--dry-run"])
            #expect(newer.status == 0 && !newer.errors.contains("tokens to"), "\(newer)")
        }
    }

    /// The helper `other`, which notes that git asked it, below sections for a host, or before them.
    private static let placesOfOther = [
        "[credential]\n\thelper = other\n",
        "[credential \"https://git.example\"]\n\thelper = lanyard\n\tusername = me\n[credential]\n\thelper = other\n",
        "[credential \"https://git.example\"]\n\thelper =\n\thelper = lanyard\n[include]\n\tpath = more\n",
        "[credential \"https://*.example\"]\n\thelper = other\n[credential \"https://git.example/a\"]\n\thelper = other\n",
        "[credential \"git.example\"]\n\thelper = other\n[credential \"https://me@git.example\"]\n\thelper = other\n",
        "[credential \"https://git.example\"]\n\thelper =\n[credential]\n\tuseHttpPath = false\n\thelper = other\n",
    ]

    @Test(arguments: placesOfOther, ["", "credential"])
    func `with --only git asks nobody else, wherever other sections stand`(text: String, xdg: String) async throws {
        try await Home.with { home in
            let log = home.folder + "/asked"
            try home.program("git-credential-other", "echo \"$1\" >>'\(log)'")
            try home.write("[credential]\n\thelper = other\n", to: home.folder + "/home/more")
            if !xdg.isEmpty {
                try home.write("[credential]\n\thelper = other\n", to: home.folder + "/config/git/config")
            }
            try home.write(text, to: home.gitFile)
            let urls = ["https://git.example", "https://git.example/a/b", "https://me@git.example/c"]
            func ask() async throws {
                for url in urls {
                    _ = try await run(
                        "/usr/bin/git", ["-c", "credential.useHttpPath=true", "credential", "fill"],
                        input: "url=\(url)\n",
                        environment: home.environment.merging(["GIT_TERMINAL_PROMPT": "0"]) { $1 },
                        folder: home.folder + "/home")
                }
            }
            try await ask()
            #expect(FileManager.default.fileExists(atPath: log), "nobody else was asked before")
            try? FileManager.default.removeItem(atPath: log)
            let ended = try await home.lanyard(["configure", "git", "--yes", urls[0], "--only"])
            #expect(ended.status == 0 && ended.errors.contains("git asks in this order: lanyard\n"), "\(ended)")
            try await ask()
            let written = try home.text(home.gitFile)
            #expect(!FileManager.default.fileExists(atPath: log), "\(written)")
            let again = try await home.lanyard(["configure", "git", "--yes", urls[0], "--only"])
            #expect(again.status == 0 && again.errors.contains("git is configured already"), "\(again)")
            #expect(try home.text(home.gitFile) == written)
            #expect(try await home.lanyard(["unconfigure", "git", "--yes"]).status == 0)
            #expect(try home.text(home.gitFile) == text)
        }
    }

    @Test func `doctor's remedy for a helper that came later works`() async throws {
        try await Home.with { home in
            try home.pretendGit("2.45.1")
            let url = "https://git.example"
            try home.write(
                "[[rule]]\nurl = \"\(url)\"\nauthority = \"https://login.microsoftonline.com/contoso.com\"\n"
                    + "client-id = \"\(Self.client)\"\nscopes = [\"a/.default\"]\n", to: home.configFile)
            try await home.lanyard(["configure", "git", "--yes", url])
            let written = try home.text(home.gitFile)
            try await home.git(["config", "--global", "credential.helper", "store"])
            let before = try await home.lanyard(["doctor"])
            #expect(before.output.contains("lanyard configure git \(url) --only"), "\(before)")
            try await home.lanyard(["configure", "git", "--yes", url, "--only"])
            let after = try await home.lanyard(["doctor"])
            #expect(!after.output.contains("--only") && !after.output.contains("store"), "\(after)")
            // What was written before was moved, and not doubled.
            #expect(try home.text(home.gitFile).components(separatedBy: "helper = lanyard").count == 2, "\(written)")
            try await home.lanyard(["unconfigure", "git", "--yes"])
            #expect(try home.text(home.gitFile) == "[credential]\n\thelper = store\n")
        }
    }

    @Test func `what comes after the user's file is named, and git's order isn't called right`() async throws {
        try await Home.with { home in
            let words = ["configure", "git", "--yes", "https://git.example", "--only"]
            let repository = home.folder + "/home"
            try await home.git(["init", "--quiet"])
            try await home.git(["config", "credential.https://git.example/x.helper", "!printf password=secret"])
            let line = try home.text(repository + "/.git/config").components(separatedBy: "helper")[0]
                .components(separatedBy: "\n").count
            for _ in 0..<2 {
                let local = try await home.lanyard(words)
                #expect(local.status == 1, "\(local)")
                #expect(
                    local.errors.contains(
                        "error: for https://git.example git still asks a shell command, because of .git/config:\(line)\n"
                    ),
                    "\(local)")
                #expect(!local.errors.contains("secret"), "\(local)")
                #expect(
                    local.errors.contains(
                        "hint: to remove it: git config --unset-all credential.https://git.example/x.helper\n"),
                    "\(local)")
            }
            try await home.git(["config", "--unset-all", "credential.https://git.example/x.helper"])
            #expect(try await home.lanyard(words).status == 0)
            let written = try home.text(home.gitFile)
            let variables = [
                "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "credential.helper", "GIT_CONFIG_VALUE_0": "store",
            ]
            let variable = try await home.lanyard(words, variables)
            #expect(variable.status == 1, "\(variable)")
            #expect(variable.errors.contains("git still asks store, because of the environment\n"), "\(variable)")
            #expect(try home.text(home.gitFile) == written)
        }
    }

    @Test func `the path is sent, also if a later section of git's says otherwise`() async throws {
        try await Home.with { home in
            let text =
                "[credential \"https://dev.azure.com\"]\n\tuseHttpPath = true\n[credential]\n\tuseHttpPath = false\n"
            try home.write(text, to: home.gitFile)
            try await home.lanyard(["configure", "git", "--yes"])
            try home.program("git-credential-show", "cat >'\(home.folder)/shown'")
            _ = try await run(
                "/usr/bin/git", ["-c", "credential.helper=", "-c", "credential.helper=show", "credential", "fill"],
                input: "url=https://dev.azure.com/contoso/p\n",
                environment: home.environment.merging(["GIT_TERMINAL_PROMPT": "0"]) { $1 })
            #expect(try home.text(home.folder + "/shown").contains("path=contoso/p\n"))
            try await home.lanyard(["unconfigure", "git", "--yes"])
            #expect(try home.text(home.gitFile) == text)
        }
    }

    @Test func `equal values of the user's own stay, however often lanyard wrote them`() async throws {
        try await Home.with { home in
            let text = "[credential \"https://git.example\"]\n\thelper = lanyard\n[credential]\n\thelper = store\n"
            try home.write(text, to: home.gitFile)
            for _ in 0..<2 {
                try await home.lanyard(["configure", "git", "--yes", "https://git.example", "--only"])
                try await home.git(["config", "--global", "--add", "credential.helper", "cache"])
            }
            try await home.lanyard(["unconfigure", "git", "--yes"])
            #expect(try home.text(home.gitFile) == text + "\thelper = cache\n\thelper = cache\n")
        }
    }

    @Test(arguments: [
        ("http://git.contoso.com", "over http"), ("ftp://git.contoso.com", "over ftp"), ("http://localhost:8080", nil),
        ("https://git.contoso.com", nil),
    ])
    func `where no token is ever sent, that is said`(url: String, told: String?) async throws {
        try await Home.with { home in
            let ended = try await home.lanyard(["configure", "git", url, "--yes"])
            #expect(ended.status == 0 && ended.errors.contains("tokens are not sent") == (told != nil), "\(ended)")
            guard let told else { return }
            #expect(ended.errors.contains(told), "\(ended)")
            #expect(ended.errors.contains("if the server has https, write: https://git.contoso.com\n"), "\(ended)")
        }
    }

    @Test func `a dry run writes nothing`() async throws {
        try await Home.with { home in
            let ended = try await home.lanyard(["configure", "git", "--dry-run"])
            #expect(ended.status == 0)
            #expect(ended.errors.contains("lanyard:       helper = lanyard\n"), "\(ended)")
            #expect(!FileManager.default.fileExists(atPath: home.gitFile))
        }
    }

    @Test(arguments: [
        ["https://git.example"], [],
        [
            "https://git.example", "--authority", "https://login.microsoftonline.com/x", "--client-id", client,
            "--scope", "s",
        ],
    ])
    func `without a terminal it writes nothing unless told to`(words: [String]) async throws {
        try await Home.with { home in
            let ended = try await home.lanyard(["configure", "git"] + words)
            #expect(ended.status == 64 && ended.output.isEmpty, "\(ended)")
            #expect(
                ended.errors.hasPrefix("lanyard: error: there is no terminal to ask you whether to change git"),
                "\(ended)")
            #expect(ended.errors.contains("--yes"), "\(ended)")
            for file in [home.gitFile, home.configFile] { #expect(!FileManager.default.fileExists(atPath: file)) }
            #expect(try await home.lanyard(["configure", "git", "--yes"] + words).status == 0)
            let written = try home.text(home.gitFile)
            let back = try await home.lanyard(["unconfigure", "git"])
            #expect(back.status == 64, "\(back)")
            #expect(try home.text(home.gitFile) == written)
            // Without changes, there is no question.
            #expect(try await home.lanyard(["configure", "git"] + words.prefix(1)).status == 0)
        }
    }

    @Test(arguments: [
        "ht!tp", "https://", "https://a b/", "https://good.example\\@evil.example", "https://h.example/?q", "a@b@c",
        "h:+1",
        "https://\u{301}@h.example/", "https//dev.azure.com/contoso", "https:/dev.azure.com", "HTTP/x",
    ])
    func `what is no URL is refused, and nothing is written`(text: String) async throws {
        try await Home.with { home in
            for command in [["configure", "git"], ["unconfigure", "git"], ["rule", "add"]] {
                let ended = try await home.lanyard(command + [text] + (command[0] == "rule" ? [] : ["--yes"]))
                #expect(ended.status == 64 && ended.output.isEmpty, "\(ended)")
                #expect(ended.errors.contains("is not a URL"), "\(ended)")
            }
            for file in [home.gitFile, home.configFile] { #expect(!FileManager.default.fileExists(atPath: file)) }
        }
    }

    @Test(arguments: [("n", false), ("", true), ("y", true)])
    func `on a terminal it asks first`(answer: String, isWritten: Bool) async throws {
        try await Home.with { home in
            let ended = try await home.lanyardAtTerminal(["configure", "git"], [("go on? [Y/n] ", answer)])
            #expect(ended.status == 0, "\(ended)")
            #expect(FileManager.default.fileExists(atPath: home.gitFile) == isWritten)
            #expect(ended.output.contains("nothing was changed") == !isWritten, "\(ended)")
        }
    }

    @Test func `on a terminal it makes the rule from what is typed, and suggests the same for the next`() async throws {
        try await Home.with { home in
            let ended = try await home.lanyardAtTerminal(
                ["configure", "git", "https://dev.azure.com/contoso"],
                [
                    ("has no rule yet; add one? ", "contoso.com"), ("type y or n, or Ctrl-C to cancel: ", "y"),
                    ("authority [", "alice@contoso.com"),
                    ("client ID [azure-cli]: ", Self.client), ("go on? ", ""),
                ])
            #expect(ended.status == 0, "\(ended)")
            let rules = try await home.lanyard(["rule", "list"])
            #expect(
                rules.lines.map { $0.trimmingCharacters(in: .whitespaces) }.dropLast() == [
                    "https://dev.azure.com/contoso", "authority  https://login.microsoftonline.com/contoso.com",
                    "client ID  \(Self.client)", "scopes     499b84ac-1321-427f-aa17-267ca6975798/.default",
                ], "\(rules)")
            let next = try await home.lanyardAtTerminal(
                ["rule", "add", "https://graph.microsoft.com"],
                [
                    ("authority [https://login.microsoftonline.com/contoso.com]: ", ""),
                    ("client ID [\(Self.client)]: ", ""),
                ])
            #expect(next.status == 0, "\(next)")
        }
    }

    @Test func `without git, or with an old one, it says what to do`() async throws {
        try await Home.with { home in
            let none = try await home.lanyard(["configure", "git", "--yes"], ["PATH": home.folder + "/bin"])
            #expect(none.status == 1)
            #expect(
                none.errors == "lanyard: error: git is not installed\nlanyard: hint: install it: sudo apt install git\n"
            )
            try home.program("git", "echo git version 1.8.3.1")
            let old = try await home.lanyard(["configure", "git", "--yes"])
            #expect(old.status == 1)
            #expect(
                old.errors.hasPrefix("lanyard: error: git 1.8.3 is too old: lanyard needs 2.8 or later\n"), "\(old)")
        }
    }

    @Test(arguments: [
        ("exit 3", "git failed while printing its version: exit status 3"),
        ("echo 'fatal: no \u{1B}[31mmemory' >&2; exit 128", "git failed while printing its version: no ?[31mmemory"),
        ("kill -9 $$", "git was killed by signal 9"), ("echo hub", "git prints no version: hub"),
    ])
    func `a git that fails is told by its own words`(script: String, message: String) async throws {
        try await Home.with { home in
            try home.program("git", script)
            let ended = try await home.lanyard(["configure", "git", "--yes"])
            #expect(ended.status == 1 && ended.errors.hasPrefix("lanyard: error: \(message)\n"), "\(ended)")
        }
    }

    @Test func `a git that is there and can't be run is not called missing`() async throws {
        try await Home.with { home in
            try home.write("#!/nonexistent/shell\n", to: home.folder + "/bin/git")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: home.folder + "/bin/git")
            let ended = try await home.lanyard(["configure", "git", "--yes"], ["PATH": home.folder + "/bin"])
            #expect(ended.status == 1 && ended.errors.contains("/bin/git can't be run"), "\(ended)")
            #expect(ended.errors.contains("lanyard: hint: see why: "), "\(ended)")
        }
    }

    @Test func `where the file can't be written, it says what to add by hand`() async throws {
        try await Home.with { home in
            try home.write("", to: home.gitFile + ".lock")
            let ended = try await home.lanyard(["configure", "git", "--yes"])
            #expect(ended.status == 1)
            #expect(ended.errors.contains("lanyard: error: git failed while writing credential.helper: "), "\(ended)")
            #expect(
                ended.errors.contains("lanyard: hint: [credential]\nlanyard: hint:     helper = lanyard\n"), "\(ended)")
        }
    }

    @Test(arguments: ["my programs", "Tom's <own> (1+1) [programs]"])
    func `git finds lanyard where it is not on the path, whatever that is called`(_ name: String) async throws {
        try await Home.with { home in
            let folder = "\(home.folder)/\(name)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for name in ["lanyard", "git-credential-lanyard"] {
                try FileManager.default.copyItem(atPath: Built.lanyard, toPath: "\(folder)/\(name)")
            }
            let path = ["PATH": Programs.folder]
            let ended = try await run(
                "\(folder)/lanyard", ["configure", "git", "--yes"], environment: home.environment.merging(path) { $1 })
            #expect(ended.status == 0, "\(ended)")
            let filled = try await run(
                "/usr/bin/git", ["credential", "fill"], input: "url=https://x.example\n",
                environment: home.environment.merging(["PATH": Programs.folder, "GIT_TERMINAL_PROMPT": "0"]) { $1 })
            #expect(filled.errors.contains("lanyard: error: there is no D-Bus session"), "\(filled)")
            let back = try await run(
                "\(folder)/lanyard", ["unconfigure", "git", "--yes"], environment: home.environment.merging(path) { $1 }
            )
            #expect(back.status == 0)
            #expect(!FileManager.default.fileExists(atPath: home.gitFile))
        }
    }
}
