import Foundation
import TestSupport
import Testing

/// Rules whose credentials are looked up in other programs, for every kind of tool.
///
/// One after the other: agents of gpg that start at the same time end each other.
@Suite(.serialized) struct SourceTests {
    private static let secret = "Sesam öffne dich"

    /// A source, what it needs before, and what it gives.
    struct Case: Sendable, CustomTestStringConvertible {
        let source: String
        let program: String
        /// Shell commands that put the secret where the program finds it.
        var preparation = ""
        var username: String? = "carol"
        var secret = SourceTests.secret
        /// What the program asks at the terminal, with the answer.
        var question: (text: String, answer: String)?
        /// Shell commands after which the program gives nothing, and what the error then has.
        let locking: String
        let locked: String
        /// A program that can't be had without an account of its maker's: what its documentation says that it prints.
        var standIn: (arguments: String, output: String)?
        var testDescription: String { "\(standIn == nil ? "" : "a stand-in for ")\(program)" }

        /// Debian's program; nil if neither this system nor `script/get newer-tools` has it.
        var path: String? {
            ["/usr/bin/" + program, Clients.newer(program)].first { FileManager.default.isExecutableFile(atPath: $0) }
        }
    }

    /// Asked by gpg-agent and rbw-agent for the password.
    private static let pinentry = """
        echo OK
        while read -r word rest; do
            case $word in
            GETPIN) if [ -e ~/locked ]; then echo 'ERR 83886179 cancelled'; else echo 'D geheim' && echo OK; fi ;;
            *) echo OK ;;
            esac
        done
        """

    private static let store = """
        mkdir -m 700 -p "$GNUPGHOME"
        echo "pinentry-program $(command -v pinentry)" >"$GNUPGHOME/gpg-agent.conf"
        gpg --batch --quiet --pinentry-mode loopback --passphrase geheim --quick-generate-key carol@example.org default default never 2>&1
        pass init carol@example.org
        printf '%s\\nuser: carol\\n' '\(secret)' | pass insert -m git/contoso
        """

    private static let cases =
        [
            Case(
                source: "command:cat ~/secret", program: "sh",
                preparation: "printf '%s\\nlogin: carol\\n' '\(secret)' >~/secret",
                locking: "rm ~/secret", locked: "No such file"),
            Case(
                source: "pass:git/contoso", program: "pass", preparation: store,
                locking: "touch ~/locked && gpgconf --reload gpg-agent", locked: "pass show git/contoso"),
            Case(
                source: "gopass:git/contoso", program: "gopass", preparation: store,
                locking: "touch ~/locked && gpgconf --reload gpg-agent", locked: "gopass show git/contoso"),
            Case(
                source: "gh", program: "gh",
                preparation: """
                    mkdir -p "$XDG_CONFIG_HOME/gh"
                    printf 'git.example:\\n    user: carol\\n    oauth_token: gho_abc\\n    git_protocol: https\\n' >"$XDG_CONFIG_HOME/gh/hosts.yml"
                    """, username: "x-access-token", secret: "gho_abc", locking: "rm \"$XDG_CONFIG_HOME/gh/hosts.yml\"",
                locked: "gh auth login --hostname git.example"),
            Case(
                source: "glab", program: "glab", preparation: "glab config set token glpat-abc --host git.example",
                username: "oauth2", secret: "glpat-abc", locking: "rm -r \"$XDG_CONFIG_HOME/glab-cli\"",
                locked: "glab auth login --hostname git.example"),
            Case(
                source: "keepassxc:~/db.kdbx:contoso", program: "keepassxc-cli",
                preparation: """
                    printf 'geheim\\ngeheim\\n' | keepassxc-cli db-create -q -p ~/db.kdbx
                    printf 'geheim\\n\(secret)\\n' | keepassxc-cli add -q -u carol -p ~/db.kdbx contoso
                    """, question: ("db.kdbx: ", "geheim"),
                locking: "mv ~/db.kdbx ~/old && printf 'falsch\\nfalsch\\n' | keepassxc-cli db-create -q -p ~/db.kdbx",
                locked: "keepassxc-cli ls"),
            Case(
                source: "rbw:contoso", program: "rbw",
                preparation:
                    "'\(Built.checkout)/Tests/TestSupport/Scripts/rbw-vault' contoso carol '\(secret)' && rbw unlock",
                locking: "touch ~/locked && rbw lock", locked: "rbw unlock"),
            Case(
                source: "op:contoso", program: "op", locking: "touch ~/locked", locked: "op signin",
                standIn: (
                    "item get contoso --format json --reveal",
                    """
                    {"id": "x", "title": "contoso", "category": "LOGIN", "fields": [
                      {"id": "username", "type": "STRING", "purpose": "USERNAME", "label": "username", "value": "carol"},
                      {"id": "password", "type": "CONCEALED", "purpose": "PASSWORD", "label": "password", "value": "\(secret)"},
                      {"id": "notesPlain", "type": "STRING", "purpose": "NOTES", "label": "notesPlain"}]}
                    """
                )),
            Case(
                source: "bw:contoso", program: "bw", locking: "touch ~/locked", locked: "bw unlock",
                standIn: (
                    "--nointeraction get item contoso",
                    """
                    {"object": "item", "id": "x", "type": 1, "name": "contoso", "notes": null,
                     "login": {"uris": [], "username": "carol", "password": "\(secret)", "totp": null}}
                    """
                )),
        ]
        + [("vault", 2), ("bao", 2), ("vault", 1)].map { program, version in
            let members = #"{"password": "\#(secret)", "username": "carol"}"#
            return Case(
                source: "\(program):secret/contoso", program: program, locking: "touch ~/locked",
                locked: "\(program) login",
                standIn: (
                    "kv get -format=json secret/contoso",
                    version == 1
                        ? #"{"request_id": "x", "data": \#(members), "warnings": null}"#
                        : #"{"request_id": "x", "data": {"data": \#(members), "metadata": {"version": 1}}, "warnings": null}"#
                ))
        }

    /// Returns the home with a rule for `git.example`, and with what the source needs.
    private static func prepared(_ source: String, _ home: Home, _ row: Case? = nil) async throws -> Home {
        let home = home.with(["GNUPGHOME": home.folder + "/home/.gnupg"])
        try home.write(
            "[[rule]]\nurl = \"https://git.example\"\nsource = \"\(source)\"\n",
            to: home.folder + "/config/lanyard/config.toml")
        for name in ["docker-credential-lanyard", "keyring"] {
            try FileManager.default.createSymbolicLink(
                atPath: "\(home.folder)/bin/\(name)", withDestinationPath: Built.lanyard)
        }
        try home.program("pinentry", pinentry)
        guard let row else { return home }
        if row.question != nil {
            let file = home.folder + "/config/lanyard/config.toml"
            try home.write(try home.text(file) + "[plugin.source]\nkeep-for = \"3600\"\n", to: file)
        }
        // What a program is told: its arguments, its variables, and the arguments of what has started it. strace(1) doesn't show
        // them, since nobody may look into lanyard and its plugins.
        let telling = #"{ printf '%s\n' "$0" "$@"; env; tr '\0' '\n' </proc/$PPID/cmdline; } >>\#(home.folder)/told"#
        if let standIn = row.standIn {
            try home.program(
                row.program,
                """
                \(telling)
                [ "$*" = '\(standIn.arguments)' ] || exit 64
                if [ -e ~/locked ]; then echo 'it is locked' >&2; exit 1; fi
                cat <<'END'
                \(standIn.output)
                END
                """)
            return home
        }
        let path = try #require(row.path)
        let agent = path + "-agent"
        if FileManager.default.isExecutableFile(atPath: agent) {
            try home.program("\(row.program)-agent", "exec '\(agent)' \"$@\"")
        }
        try home.program(row.program, "exec '\(path)' \"$@\"")
        try await shell(row.preparation, home)
        try home.program(row.program, "\(telling)\nexec '\(path)' \"$@\"")
        return home
    }

    private static func shell(_ script: String, _ home: Home) async throws {
        let ended = try await run("/bin/sh", ["-ec", script], environment: home.environment)
        #expect(ended.status == 0, "\(ended)")
    }

    @Test(arguments: cases)
    func `every tool gets what a source has, and nothing of it is kept`(_ row: Case) async throws {
        guard row.standIn != nil || row.path != nil else {
            try Test.cancel("\(row.program) is not installed; script/test --with newer-tools gets it")
        }
        try await Home.with(.sealed) { home in
            let home = try await Self.prepared(row.source, home, row)
            let secret = row.secret
            /// Runs a program with this input, and answers what the source asks at the terminal.
            func ask(_ words: [String], _ input: String = "") async throws -> Ended {
                guard let question = row.question else { return try await quietly(words, input) }
                return try await run(
                    "\(Built.checkout)/Tests/TestSupport/Scripts/at-terminal",
                    [question.text, question.answer, "--", "/bin/sh", "-c", #"printf %s "$0" | exec "$@""#, input]
                        + words,
                    environment: home.environment, folder: home.folder + "/home")
            }
            func quietly(
                _ words: [String], _ input: String = "", _ more: [String: String] = [:]
            ) async throws -> Ended {
                try await run(
                    "/usr/bin/env", words, input: input, environment: home.environment.merging(more) { $1 },
                    folder: home.folder + "/home")
            }
            let before = try home.keyringFiles()
            let git = try await ask(["git-credential-lanyard", "get"], "protocol=https\nhost=git.example\n\n")
            #expect(git.output.contains("username=\(row.username ?? "token")\npassword=\(secret)\n"), "\(git)")
            // Where the source asks, what git got is kept for these, which can't ask.
            let docker = try await quietly(["docker-credential-lanyard", "get"], "https://git.example\n")
            #expect(docker.output.contains("\"Secret\":\"\(secret)\""), "\(docker)")
            let pip = try await quietly(["keyring", "get", "https://git.example/simple", row.username ?? "carol"])
            if row.question == nil {
                #expect(pip.output == secret + "\n", "\(pip)")
            } else {
                // It names a path and a user, for which nothing is kept.
                #expect(pip.output.isEmpty && pip.errors.contains("run it at a terminal"), "\(pip)")
            }
            let info =
                #"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false,"cluster":{"server":"https://git.example"}}}"#
            let kubectl = try await quietly(["lanyard", "kubectl"], "", ["KUBERNETES_EXEC_INFO": info])
            #expect(kubectl.output.contains("\"token\":\"\(secret)\""), "\(kubectl)")
            for action in ["store", "erase"] {
                let told = try await quietly(
                    ["git-credential-lanyard", action],
                    "protocol=https\nhost=git.example\nusername=somebody\npassword=else\n\n")
                #expect(told.status == 0 && told.errors.isEmpty, "\(told)")
            }
            let trace = home.folder + "/trace"
            let token = try await ask(
                ["strace", "-f", "-v", "-s", "10000", "-e", "trace=execve,execveat", "-o", trace]
                    + ["lanyard", "token", "https://git.example"])
            #expect(token.output.hasSuffix(secret + "\n"), "\(token)")
            // No secret is an argument or a variable of any program.
            let told = try home.text(trace) + home.text(home.folder + "/told")
            #expect(told.contains("\nsource\nlanyard-plugin-v1\n"), "\(told)")
            for word in [String(secret.prefix { $0.isASCII }), "geheim"] where told.contains(word) {
                Issue.record("\(word) in \(told)")
            }
            let explained = try await home.lanyard(["explain", "https://git.example"])
            #expect(explained.output.contains("lanyard would look it up in"), "\(explained)")
            // Other hosts don't get it.
            let other = try await home.lanyard(["get"], input: "protocol=https\nhost=git.example.org\n\n")
            #expect(!other.output.contains(secret), "\(other)")

            #expect(try home.keyringFiles() == before)
            let kept = try await run(
                "/bin/sh", ["-c", "grep -rlF -e '\(secret)' '\(home.folder)'"], environment: home.environment)
            let own = ["/home/secret", "/config/gh/hosts.yml", "/config/glab-cli/config.yml", "/bin/\(row.program)"]
            #expect(kept.lines.allSatisfy { file in own.contains { file == home.folder + $0 } }, "\(kept)")

            try await Self.shell(row.locking, home)
            let locked = try await ask(["lanyard", "token", "https://git.example"])
            #expect(locked.status == 1, "\(locked)")
            #expect((locked.output + locked.errors).contains(row.locked), "\(locked)")
            try await Self.shell(
                """
                gpgconf --kill gpg-agent; gpgconf --remove-socketdir 2>/dev/null || :
                [ ! -e '\(home.folder)/bin/rbw-agent' ] || rbw stop-agent
                """, home)
        }
    }

    @Test func `a database that asks for its password does so only at a terminal`() async throws {
        try await Home.with { home in
            let home = try await Self.prepared("keepassxc:~/db.kdbx:contoso", home)
            let without = try await home.lanyard(["token", "https://git.example"])
            #expect(without.status == 1)
            #expect(
                without.errors == """
                    lanyard: error: keepassxc needs a password, and nobody can be asked here
                    lanyard: hint: run it at a terminal; for a tool that can't ask, let git ask first, with `keep-for` in [plugin.source]

                    """)
        }
    }

    @Test(arguments: [
        ("bw:x", "bw is not installed"), ("pas:x", "no plugin has the source pas"),
        ("pass", "the rule doesn't say what to look up in pass"),
        ("gh:somebody", "gh looks up what it has for a host, and nothing by name"),
        ("glab:x", "write source = \"glab\" in the rule"),
        ("pass:--help", "--help looks like an option of a program"),
        ("command:exit 3", "command has nothing for exit 3, or is locked: exit status 3"),
        ("command:echo out of >&2; echo order >&2; exit 1", "or is locked: out of order"),
        ("command:true", "sh gave no password for true"),
        ("command:printf 'caf\\\\351\\\\n'", "sh printed something that is not UTF-8"),
        ("command:printf 'a\\\\000b\\\\n'", "the password that sh gave for"),
        ("command:printf 'a\\\\nuser: b:c\\\\n'", "the user name that sh gave for"),
        ("pass:Bob's entry", #"pass show 'Bob'\''s entry'"#),
    ])
    func `what is wrong with a source`(_ source: String, _ message: String) async throws {
        try await Home.with { home in
            let home = try await Self.prepared(source, home)
            let ended = try await home.lanyard(["token", "https://git.example"])
            #expect(ended.status == 1 && ended.errors.contains(message), "\(ended)")
        }
    }

    @Test(arguments: [
        ("op:x", "OP_SESSION_my", #"{"fields": [{"id": "password", "value": "abc"}]}"#),
        ("bw:x", "BW_SESSION", #"{"login": {"password": "abc"}}"#), ("gh", "GH_TOKEN", "abc"),
    ])
    func `a program sees the variables that unlock it`(_ source: String, _ variable: String, _ output: String)
        async throws
    {
        try await Home.with { home in
            let home = try await Self.prepared(source, home).with([variable: "abc"])
            let program = String(source.prefix { $0 != ":" })
            try home.program(program, "[ \"$\(variable)\" = abc ] && echo '\(output)'")
            let got = try await home.lanyard(["token", "https://git.example"])
            #expect(got.output == "abc\n", "\(got)")
        }
    }

    @Test func `explain and doctor tell what keeps a source from being looked up`() async throws {
        try await Home.with { home in
            let home = try await Self.prepared("bw:x", home)
            let explained = try await home.lanyard(["explain", "https://git.example"])
            #expect(explained.output.contains("give no answer: bw is not installed"), "\(explained)")
            let doctor = try await home.lanyard(["doctor"])
            #expect(doctor.output.contains("the rule for https://git.example: bw is not installed"), "\(doctor)")
            try home.program("bw", "exit 1")
            #expect(try await home.lanyard(["explain", "https://git.example"]).output.contains("source 0."))
            let file = home.folder + "/config/lanyard/config.toml"
            try home.write(try home.text(file) + "[plugin.source]\nkeep-for = \"abc\"\n", to: file)
            for command in [["explain", "https://git.example"], ["doctor"]] {
                let told = try await home.lanyard(command)
                #expect(told.output.contains("`plugin.source.keep-for` must be seconds"), "\(told)")
            }
        }
    }

    @Test func `lines may end as on Windows, and a home may have a blank in its name`() async throws {
        try await Home.with { home in
            let home = try await Self.prepared("command:~/pw", home).with(["HOME": home.folder + "/my home"])
            try FileManager.default.createDirectory(
                atPath: home.folder + "/my home", withIntermediateDirectories: true)
            try home.write("printf 'abc\\r\\nuser: carol\\r\\n'\n", to: home.folder + "/my home/pw")
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o700], ofItemAtPath: home.folder + "/my home/pw")
            let got = try await home.lanyard(["get"], input: "url=https://git.example\n\n")
            #expect(got.output.contains("username=carol\npassword=abc\n"), "\(got)")
        }
    }

    @Test(arguments: ["git/team", "git/team/"])
    func `the name of a folder is no password`(_ reference: String) async throws {
        try await Home.with { home in
            let home = try await Self.prepared("pass:\(reference)", home)
            // What pass prints for a folder.
            try home.program("pass", "printf 'git/team\\n`-- contoso\\n'")
            let ended = try await home.lanyard(["token", "https://git.example"])
            #expect(ended.output.isEmpty && ended.errors.contains("it is a folder"), "\(ended)")
        }
    }

    @Test(arguments: [["--id-token"], ["--scope", "x"], ["--account", "bob@example.com"], ["--client-id", "x"]])
    func `nothing else can be asked for where a rule has a source`(_ options: [String]) async throws {
        try await Home.with { home in
            let home = try await Self.prepared("command:echo abc", home)
            let ended = try await home.lanyard(["token", "https://git.example"] + options)
            #expect(ended.output.isEmpty, "\(ended)")
            #expect(ended.errors.contains("the rule for git.example looks the credential up in command,"), "\(ended)")
        }
    }

    @Test func `a rule for a source is added by a command`() async throws {
        try await Home.with { home in
            let url = "https://git.example"
            for (options, message) in [
                (["--source", "pas:x"], "did you mean pass?"), (["--source", "pass"], "what to look up in pass"),
                (["--source", "gh", "--scope", "x"], "give --source"),
            ] {
                let refused = try await home.lanyard(["rule", "add", url] + options)
                #expect(refused.status != 0 && refused.errors.contains(message), "\(refused)")
            }
            let added = try await home.lanyard(["rule", "add", url, "--source", "command:echo abc"])
            #expect(added.errors.hasSuffix("lanyard: next: lanyard token https://git.example\n"), "\(added)")
            let token = try await home.lanyard(["token", url])
            #expect(token.output == "abc\n", "\(token)")
        }
    }

    @Test func `a plugin may be a manifest alone, and its program anywhere`() async throws {
        try await Home.with { home in
            let folder = home.folder + "/home/.local/share/lanyard/plugins/keys"
            try home.program("contoso-keys", "echo key-for-$3")
            let page = try home.text(Built.checkout + "/docs/plugin-manifest.md")
            let start = try #require(page.range(of: "    name = \"keys\"\n"))
            let manifest = page[start.lowerBound...].prefix { $0 != "#" }.replacingOccurrences(of: "    ", with: "")
            for program in ["contoso-keys", home.folder + "/bin/contoso-keys"] {
                try home.write(manifest.replacing("contoso-keys", with: program), to: folder + "/plugin.toml")
                let home = home.with(["XDG_DATA_HOME": home.folder + "/home/.local/share"])
                try home.write(
                    "[[rule]]\nurl = \"https://git.example\"\nsource = \"keys\"\n",
                    to: home.folder + "/config/lanyard/config.toml")
                let checked = try await home.lanyard(["plugin", "check", "keys"])
                #expect(checked.status == 0, "\(checked)")
                let token = try await home.lanyard(["token", "https://git.example/a?b#c"])
                #expect(token.output == "key-for-git.example\n", "\(token)")
            }
            // An answer is remembered for as long as the row says.
            try home.program("contoso-keys", "echo x >>'\(home.folder)/runs'; echo key-for-$3")
            for (line, runs) in [("", 2), ("keep-for = 0\n", 2), ("keep-for = 600\n", 1)] {
                try home.write(manifest + "\n" + line, to: folder + "/plugin.toml")
                try home.write("", to: home.folder + "/runs")
                for _ in 1...2 {
                    let got = try await home.with(["XDG_DATA_HOME": home.folder + "/home/.local/share"])
                        .lanyard(["get"], input: "url=https://git.example\n\n")
                    #expect(got.value("password") == "key-for-git.example", "\(got)")
                }
                #expect(try home.text(home.folder + "/runs").split(separator: "\n").count == runs, "\(line)")
            }
            try home.write(manifest + "\nkeep-for = 90000\n", to: folder + "/plugin.toml")
            let long = try await home.with(["XDG_DATA_HOME": home.folder + "/home/.local/share"])
                .lanyard(["plugin", "check", "keys"])
            #expect(
                long.errors.contains("must be 0 to 86400 seconds") || long.output.contains("must be 0 to 86400"),
                "\(long)")
            try home.write(
                manifest.replacing("program", with: "programm").description, to: folder + "/plugin.toml")
            let broken = try await home.with(["XDG_DATA_HOME": home.folder + "/home/.local/share"])
                .lanyard(["token", "https://git.example"])
            #expect(broken.errors.contains("unknown key `programm`: this [[source]] is left out"), "\(broken)")
        }
    }

    @Test func `a misspelt kind is named`() async throws {
        try await Home.with { home in
            let rule =
                "[[rule]]\nurl = \"https://git.example\"\nauthority = \"https://git.example\"\nkind = \"githb\"\n"
            try home.write(rule, to: home.folder + "/config/lanyard/config.toml")
            let ended = try await home.lanyard(["token", "https://git.example"])
            #expect(ended.errors.contains("no plugin has the kind githb, which is in the configuration"), "\(ended)")
            #expect(ended.errors.contains("did you mean github?"), "\(ended)")
        }
    }

    @Test(arguments: ["90000", "-1", "5m"])
    func `an answer is kept for a number of seconds`(_ time: String) async throws {
        try await Home.with { home in
            let home = try await Self.prepared("command:echo abc", home)
            let file = home.folder + "/config/lanyard/config.toml"
            try home.write(try home.text(file) + "[plugin.source]\nkeep-for = \"\(time)\"\n", to: file)
            let ended = try await home.lanyard(["token", "https://git.example"])
            #expect(ended.status == 1 && ended.errors.contains("keep-for in [plugin.source] is \(time)"), "\(ended)")
            #expect(ended.errors.contains("from 0 to 86400"), "\(ended)")
        }
    }

    @Test func `an answer is kept only if an option says so`() async throws {
        try await Home.with { home in
            let home = try await Self.prepared("command:echo x >>'\(home.folder)/runs'; echo abc", home)
            let file = home.folder + "/config/lanyard/config.toml"
            for _ in 1...2 { #expect(try await home.lanyard(["token", "https://git.example"]).output == "abc\n") }
            #expect(try home.text(home.folder + "/runs") == "x\nx\n")
            try home.write(try home.text(file) + "[plugin.source]\nkep-for = \"60\"\n", to: file)
            let wrong = try await home.lanyard(["token", "https://git.example"])
            #expect(wrong.errors.contains("the source plugin has no option `kep-for`"), "\(wrong)")
            #expect(wrong.errors.contains("did you mean `keep-for`?"), "\(wrong)")
            let listed = try await home.lanyard(["config", "list"])
            #expect(listed.output.contains("plugin.source.kep-for"), "\(listed)")
        }
    }
}

extension Home {
    /// The names of all files of the sealed keyring.
    fileprivate func keyringFiles() throws -> Set<String> {
        Set(try FileManager.default.subpathsOfDirectory(atPath: folder + "/home/.local/state/lanyard/keyring"))
    }
}
