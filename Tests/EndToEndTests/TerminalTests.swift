import Foundation
import Glibc
import TestSupport
import Testing

/// Signing in at a terminal.
@Suite struct TerminalTests {
    private static let interrupted: Int32 = -SIGINT

    /// Gets the repository's credential as git does, with a user at the terminal.
    private static func get(
        _ options: [String] = [], in world: World, at terminal: PseudoTerminal,
        user part: @escaping @Sendable (PseudoTerminal) async throws -> Void = { _ in }
    ) async throws -> Ended {
        try await terminal.run(
            "\(world.folder)/bin/lanyard", ["get"] + options,
            input: "url=\(world.sandbox.resource)/common/hello.git\n", environment: world.environment, user: part)
    }

    /// Returns the URL in a line of the screen.
    private static func page(_ terminal: PseudoTerminal) throws -> String {
        try #require(terminal.lines.first { $0.hasPrefix("https://") })
    }

    /// Returns the final URL of a browser on another computer.
    private static func elsewhere(_ world: World, _ page: String) async throws -> String {
        let ended = try await run(
            Built.sandbox,
            ["sign-in", page, "--elsewhere", "--as", "alice@contoso.example", "--ca", world.sandbox.caFile],
            environment: ["PATH": Programs.folder])
        return try #require(ended.lines.first, "\(ended)")
    }

    /// Returns the processes of the first-party plugins in this world's folder or sandbox.
    private static func plugins(of world: World) -> [String] { running("lanyard-plugin-v1", in: world) }

    /// Returns the processes of a world whose environment or command line contains a word.
    private static func running(_ word: String, in world: World) -> [String] {
        RunningProcess.all.map(\.text).filter { $0.contains(word) && $0.contains(world.folder) }
    }

    @Test func `an address is pasted, longer than a terminal's own lines, after the tunnel was told`() async throws {
        try await World.with { world in
            let terminal = try PseudoTerminal()
            let url = "\(world.sandbox.resource)/common/hello.git"
            let remote = [
                "SSH_CONNECTION": "192.0.2.1 51234 192.0.2.7 2222", "USER": "alice",
                "BROWSER": "/bin/false",
            ]
            let ended = try await terminal.run(
                "\(world.folder)/bin/lanyard", ["login", "--no-browser", url],
                environment: world.environment.merging(remote) { $1 }
            ) { terminal in
                try await terminal.sees("last page fails to load, paste its address (hidden; 15 minutes): ")
                let tunnel = #/ssh -N -L (\d+):localhost:\1 -p 2222 alice@192\.0\.2\.7/#
                #expect(terminal.lines.contains { $0.wholeMatch(of: tunnel) != nil }, "\(terminal.text)")
                let address = try await Self.elsewhere(world, Self.page(terminal))
                #expect(address.hasPrefix("http://localhost:") && address.contains("code="))
                try terminal.type(address + "&filler=" + String(repeating: "0123456789", count: 1200) + "\r")
            }
            #expect(ended.status == 0, "\(ended) \(terminal.text)")
            #expect(terminal.lines.dropLast().last == "lanyard: signed in as alice@contoso.example", "\(terminal.text)")
            #expect(!terminal.text.contains("code="), "the answer is not echoed")
            #expect(terminal.isAsItWas)
        }
    }

    @Test func `nothing that is pasted shows while the plugin judges it, nor while it is asked for again`() async throws
    {
        try await Home.with { home in
            let folder = home.folder + "/slow"
            try home.write(
                """
                name = "slow"
                version = "1"
                description = "Takes its time"
                protocols = ["v1"]
                executable = "slow.sh"
                [[authority]]
                hosts = ["slow.example"]
                path = "/{path}"
                """, to: folder + "/plugin.toml")
            try home.write(
                """
                #!/bin/sh
                block() { while IFS= read -r line && [ "$line" ]; do :; done; }
                wait_for() { touch "$1.asked"; until [ -e "$1" ]; do sleep 0.05; done; }
                page() { printf 'event=open-url\\nurl=https://slow.example/page\\n\\n'; block; }
                cd \(folder) && block
                page; wait_for first
                printf 'event=progress\\nmessage=that was a wrong one\\n\\n'
                page; wait_for second
                printf 'event=prompt\\nkind=secret\\nmessage=code\\n\\n'; block; wait_for third
                printf 'event=result\\naccess_token=a\\nhome_account_id=b\\nenvironment=slow.example\\nrealm=default\\nexpires_in=9\\n\\n'
                """, to: folder + "/slow.sh")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder + "/slow.sh")
            let terminal = try PseudoTerminal()
            let ended = try await terminal.run(
                "\(home.folder)/bin/lanyard", ["plugin", "try", folder, "https://slow.example", "--no-browser"],
                environment: home.environment
            ) { terminal in
                for (name, question) in [("first", "address"), ("second", "address"), ("third", "code: ")] {
                    try await terminal.sees(question, times: name == "second" ? 2 : 1)
                    try terminal.type("sesame\r")
                    while !FileManager.default.fileExists(atPath: "\(folder)/\(name).asked") {
                        try await Task.sleep(for: .milliseconds(20))
                    }
                    try terminal.type("sesame again\r")
                    #expect(!terminal.isAsItWas)
                    try await Task.sleep(for: .milliseconds(200))
                    try home.write("", to: "\(folder)/\(name)")
                }
            }
            #expect(ended.status == 0, "\(ended) \(terminal.text)")
            #expect(
                terminal.text.contains("that was a wrong one") && !terminal.written.contains("sesame"),
                "\(terminal.text)")
            #expect(terminal.isAsItWas)
        }
    }

    @Test func `at a redirect URI of another computer nobody listens, so the address is pasted`() async throws {
        try await World.with { world in
            let script = """
                while IFS= read -r line; do case $line in '') break ;; esac; done
                printf 'event=open-url\\nurl=https://id.example/a\\nredirect_uri=https://app.example:8443/cb\\n\\n'
                while IFS= read -r line; do case $line in '') break ;; esac; echo "$line"; done > '\(world.folder)/reply'
                printf 'event=error\\ncode=cancelled\\nmessage=enough\\n\\n'
                """
            let manifest = "[[authority]]\nhosts = [\"id.example\"]\npath = \"/{path}\""
            var environment = try world.install(plugin: "elsewhere", script: script, manifest: manifest)
            environment["BROWSER"] = "/bin/true"
            try """
            \(world.keyringTable)[[rule]]
            url = "https://git.example"
            authority = "https://id.example/t"
            client-id = "c"
            scopes = ["s"]
            """.write(toFile: world.configFile, atomically: true, encoding: .utf8)
            let terminal = try PseudoTerminal()
            let ended = try await terminal.run(
                "\(world.folder)/bin/lanyard", ["login", "https://git.example"],
                environment: world.environment.merging(environment) { $1 }
            ) { terminal in
                try await terminal.sees("paste the address of the last page")
                try terminal.type("https://app.example:8443/cb?code=c\r")
            }
            #expect(ended.status != 0, "\(ended) \(terminal.text)")
            let reply = try String(contentsOfFile: "\(world.folder)/reply", encoding: .utf8)
            #expect(reply.contains("status=redirected\nvalue=https://app.example:8443/cb?code=c\n"), "\(reply)")
        }
    }

    @Test func `without a browser of its own, lanyard still hears the one that finds the way here, even after a slip`()
        async throws
    {
        try await World.with { world in
            try world.configure(before: "browser = \"none\"")
            let terminal = try PseudoTerminal()
            let ended = try await terminal.run(
                "\(world.folder)/bin/lanyard", ["login", "\(world.sandbox.resource)/common/hello.git"],
                environment: world.environment.merging(["BROWSER": "/bin/false"]) { $1 }
            ) { terminal in
                try await terminal.sees("last page fails to load, paste its address (hidden; 15 minutes): ")
                #expect(!terminal.text.contains("ssh -N"))
                try terminal.type("\r")
                try await terminal.sees("nothing was pasted; Ctrl-C cancels")
                try terminal.type("hello\r")
                try await terminal.sees("there is no code in what was pasted; paste all of the last page's")
                let browser = try await run(
                    Built.sandbox,
                    ["sign-in", Self.page(terminal), "--as", "alice@contoso.example", "--ca", world.sandbox.caFile],
                    environment: ["PATH": Programs.folder])
                #expect(browser.status == 0, "\(browser)")
            }
            #expect(ended.status == 0, "\(ended) \(terminal.text)")
            // The page is still on the screen, and the reason just above the prompt.
            let said = terminal.text.replacing(#/\s+/#, with: " ")
            #expect(said.split(separator: "open this page in any browser:").count == 2, "\(terminal.text)")
            #expect(terminal.isAsItWas)
        }
    }

    @Test func `opening a browser takes few lines, and the address comes once nothing has happened for a while`()
        async throws
    {
        try await World.with { world in
            let terminal = try PseudoTerminal()
            let ended = try await terminal.run(
                "\(world.folder)/bin/lanyard",
                [
                    "login", "--browser", "true", "--account", "alice@contoso.example",
                    "\(world.sandbox.resource)/common/hello.git",
                ],
                environment: world.environment
            ) { terminal in
                try await terminal.sees("waiting for your browser")
                let place = "\(world.sandbox.authority.dropFirst("https://".count))/common"
                let screen = terminal.lines.joined(separator: " ")
                let told = screen.split(separator: "lanyard: waiting")[0].replacing(#/\s+/#, with: " ")
                #expect(
                    told == "lanyard: opening your browser to sign in at \(place) as alice@contoso.example for "
                        + "\(world.sandbox.resource.dropFirst("https://".count))/common/hello.git (app 5a4d1b0c…) ",
                    "\(told)")
                let link = #/\u{1B}\]8;;https:\/\/[!-~]+\/authorize\?[!-~]+\u{1B}\\/#
                #expect(terminal.written.contains(link), "\(terminal.written)")
                try await terminal.sees("lanyard: if no page opened, open this one:\n")
                try await terminal.sees("/authorize?")
                #expect(try Self.page(terminal).contains("/authorize?"))
                try terminal.type("\u{3}")
            }
            #expect(ended.status == Self.interrupted, "\(ended) \(terminal.text)")
        }
    }

    @Test func `a browser's command that fails while its page is waited for is named with the page's address`()
        async throws
    {
        try await World.with { world in
            let terminal = try PseudoTerminal(columns: 200)
            // Longer than it takes to count as opened.
            let browser = "sh -c 'sleep 5; echo late >&2; exit 1'"
            let ended = try await terminal.run(
                "\(world.folder)/bin/lanyard",
                ["login", "--browser", browser, "\(world.sandbox.resource)/common/hello.git"],
                environment: world.environment
            ) { terminal in
                try await terminal.sees("lanyard: sh failed: late; open this page:\n")
                try await terminal.sees("/authorize?")
                try terminal.type("\u{3}")
            }
            #expect(ended.status == Self.interrupted, "\(ended) \(terminal.text)")
        }
    }

    @Test(arguments: ["linux", "dumb"]) func `a terminal that has no links gets none`(_ kind: String) async throws {
        try await World.with { world in
            let terminal = try PseudoTerminal()
            let ended = try await terminal.run(
                "\(world.folder)/bin/lanyard", ["login", "\(world.sandbox.resource)/common/hello.git"],
                environment: world.environment.merging(world.browser(as: "alice@contoso.example")) { $1 }
                    .merging(["TERM": kind]) { $1 })
            #expect(
                ended.status == 0 && terminal.lines.contains("lanyard: signed in as alice@contoso.example"), "\(ended)")
            #expect(!terminal.written.contains("]8;"), "\(terminal.written)")
        }
    }

    @Test func `why a code is shown stays on a screen of 24 rows`() async throws {
        try await World.with { world in
            // The stored token is already due for renewal.
            try await world.sandbox.set(#"{"access_token_lifetime": 200}"#)
            try await world.signIn("alice@contoso.example")
            try await world.sandbox.revoke(#"{"username":"alice@contoso.example"}"#)
            let terminal = try PseudoTerminal()
            let ended = try await Self.get(["--flow", "device-code"], in: world, at: terminal) { terminal in
                try await terminal.sees("waiting for the code")
                let lines = terminal.lines
                let reason = try #require(lines.firstIndex { $0.contains("must sign in again") }, "\(terminal.text)")
                let last = try #require(lines.firstIndex { $0.contains("waiting for the code") })
                #expect(last - reason < 24, "\(terminal.text)")
                try terminal.type("\u{3}")
            }
            #expect(ended.status == Self.interrupted, "\(ended)")
        }
    }

    @Test func `a code stands alone on its line, with a picture of the page and the time that is left`() async throws {
        try await World.with { world in
            let terminal = try PseudoTerminal()
            let ended = try await Self.get(["--flow", "device-code"], in: world, at: terminal) { terminal in
                try await terminal.sees("waiting for the code to be entered, 14:5")
                let page = try Self.page(terminal)
                let lines = terminal.lines
                let label = try #require(lines.firstIndex { $0.hasPrefix("lanyard: and enter this code") })
                #expect(lines[label] == "lanyard: and enter this code, which is valid for 15 minutes:")
                let code = lines[label + 1]
                #expect(code.wholeMatch(of: #/[A-Z0-9-]+/#) != nil, "\(code)")
                #expect(try Self.decoded(terminal) == page)
                let browser = try await run(
                    Built.sandbox,
                    [
                        "sign-in", page, "--as", "alice@contoso.example", "--ca", world.sandbox.caFile, "--code", code,
                    ], environment: ["PATH": Programs.folder])
                #expect(browser.status == 0, "\(browser)")
            }
            #expect(ended.status == 0, "\(ended) \(terminal.text)")
            #expect(ended.value("password") != nil)
            #expect(
                terminal.written.hasSuffix("\r\u{1B}[Klanyard: signed in as alice@contoso.example\r\n"),
                "the line that counts is gone in the end")
        }
    }

    @Test(arguments: [("forge.example", "?user_code=WDJB-MJHT"), ("evil.example", "")])
    func `a page that has the code in it already is what the picture leads to, at the printed host`(
        _ host: String, _ query: String
    ) async throws {
        try await World.with { world in
            let script = """
                [ "$1" = lanyard-plugin-v1 ] || exit 64
                printf 'event=show-code\\nuser_code=WDJB-MJHT\\nverification_uri=https://forge.example/d\\nexpires_in=900\\n'
                printf 'verification_uri_complete=https://\(host)/d?user_code=WDJB-MJHT\\n\\n'
                sleep 60
                """
            let found = try world.install(
                plugin: "forge", script: script,
                manifest: "[[authority]]\nhosts = [\"forge.example\"]\npath = \"/{path}\"")
            let terminal = try PseudoTerminal(columns: 80, rows: 50)
            let ended = try await terminal.run(
                "\(world.folder)/bin/lanyard",
                [
                    "login", "--flow", "device-code", "--authority", "https://forge.example", "--client-id", "c",
                    "--scope", "repo",
                ], environment: world.environment.merging(found) { $1 }
            ) { terminal in
                try await terminal.sees("waiting for the code")
                #expect(terminal.lines.contains("https://forge.example/d"))
                #expect(terminal.lines.contains("WDJB-MJHT"))
                #expect(terminal.lines.contains("https://forge.example/d\(query)"))
                #expect(!terminal.lines.contains { $0.contains("evil.example") })
                #expect(try Self.decoded(terminal) == "https://forge.example/d\(query)")
                try terminal.type("\u{3}")
            }
            #expect(ended.status == Self.interrupted, "\(ended) \(terminal.text)")
        }
    }

    /// Returns what zbarimg reads from the picture on the screen.
    private static func decoded(_ terminal: PseudoTerminal) throws -> String {
        let rows = terminal.lines.filter { line in
            line.count > 20 && line.allSatisfy { "█▀▄ ".contains($0) }
        }
        let scale = 4
        let width = try #require(rows.map(\.count).max())
        var picture = Data("P5 \(width * scale) \(rows.count * 2 * scale) 255\n".utf8)
        for row in rows {
            for upper in [true, false] {
                let line = row.map { cell in cell == "█" || cell == (upper ? "▀" : "▄") }
                for _ in 0..<scale {
                    for isLight in line { picture += [UInt8](repeating: isLight ? 255 : 0, count: scale) }
                }
            }
        }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).pgm")
        try picture.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let decoder = Process()
        decoder.executableURL = URL(fileURLWithPath: "/usr/bin/zbarimg")
        decoder.arguments = ["--quiet", "--raw", "-Sdisable", "-Sqrcode.enable", file.path]
        let output = Pipe()
        decoder.standardOutput = output
        try decoder.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        return String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
    }

    struct Plain: CustomTestStringConvertible, Sendable {
        let name: String
        let variables: [String: String]
        var columns: UInt16 = 80
        var rows: UInt16 = 24
        /// Whether lines are redrawn.
        var hasCountdown = true
        var testDescription: String { name }
    }

    static let plain = [
        Plain(name: "a dumb terminal", variables: ["TERM": "dumb"], hasCountdown: false),
        Plain(name: "NO_COLOR", variables: ["NO_COLOR": "1"]), Plain(name: "no UTF-8", variables: ["LANG": "C"]),
        Plain(name: "a narrow terminal", variables: [:], columns: 36),
        Plain(name: "a low one", variables: [:], rows: 22),
    ]

    @Test(arguments: plain)
    func `where no picture can be shown there is none, and the code is there all the same`(example: Plain) async throws
    {
        try await World.with { world in
            let terminal = try PseudoTerminal(columns: example.columns, rows: example.rows)
            let ended = try await terminal.run(
                "\(world.folder)/bin/lanyard", ["login", "--flow", "device-code", "\(world.sandbox.resource)/common"],
                environment: world.environment.merging(example.variables) { $1 }
            ) { terminal in
                try await terminal.sees("lanyard: and enter this code")
                if example.hasCountdown { try await terminal.sees("waiting for the code") }
                try await Task.sleep(for: .milliseconds(300))
                try terminal.type("\u{3}")
            }
            #expect(ended.status == Self.interrupted, "\(ended)")
            #expect(!terminal.text.contains("█"))
            #expect(terminal.text.contains("waiting for the code") == example.hasCountdown)
            #expect(terminal.written.contains("\u{1B}") == example.hasCountdown)
            if example.columns == 36 {
                let drawn = terminal.written.split(separator: "\u{1B}[K").filter { $0.hasPrefix("lanyard: waiting") }
                #expect(drawn.allSatisfy { $0.prefix { $0 != "\r" && $0 != "^" }.count < 36 }, "no line wraps")
            }
        }
    }

    @Test(arguments: [("paste", SIGINT), ("paste", SIGTERM), ("paste", SIGHUP), ("code", SIGINT), ("browser", SIGTERM)])
    func `a signal ends a sign-in, and leaves nothing behind`(_ flow: String, _ signal: Int32) async throws {
        try await World.with { world in
            let terminal = try PseudoTerminal()
            let options = [
                "paste": ["--no-browser"], "code": ["--flow", "device-code"], "browser": ["--browser", "true"],
            ]
            let ended = try await Self.get(options[flow] ?? [], in: world, at: terminal) { terminal in
                try await terminal.sees(
                    flow == "paste"
                        ? "last page fails to load, paste its address (hidden; 15 minutes): " : "left; Ctrl-C cancels")
                if flow == "paste" { try terminal.type("half an address") }
                #expect(terminal.isAsItWas == (flow != "paste"))
                if signal == SIGINT { try terminal.type("\u{3}") } else { kill(terminal.foreground, signal) }
            }
            #expect(ended.status == -signal, "\(ended) \(terminal.text)")
            #expect(ended.lines == ["quit=1"], "git gets nothing else, and doesn't ask for a password")
            #expect(!terminal.text.contains("error:"), "\(terminal.text)")
            #expect(terminal.isAsItWas)
            #expect(Self.plugins(of: world).isEmpty)
            // The lock is free, and the store is intact: the next process signs in immediately.
            let next = try await world.get("common/hello.git", world.browser(as: "alice@contoso.example"))
            #expect(next.status == 0 && next.value("password") != nil, "\(next)")
        }
    }

    /// The terminal drops what was typed before a Ctrl-C, but may already have reported that there is input.
    @Test(arguments: 1...8) func `a Ctrl-C right behind an answer ends a sign-in`(_ round: Int) async throws {
        try await World.with { world in
            let terminal = try PseudoTerminal()
            let ended = try await Self.get(["--no-browser"], in: world, at: terminal) { terminal in
                try await terminal.sees("paste its address (hidden; 15 minutes): ")
                for text in ["half", " an", " address", "\u{3}"] { try terminal.type(text) }
            }
            #expect(ended.status == -SIGINT && ended.lines == ["quit=1"], "\(ended) \(terminal.text)")
            #expect(terminal.isAsItWas)
        }
    }

    @Test(arguments: [
        (["LANYARD_FLOW": "device-code"], "left; Ctrl-C cancels"), (["BROWSER": "none"], "; 15 minutes): "),
    ])
    func `a Ctrl-C in git leaves the prompt that the shell shows at once alone`(
        _ way: [String: String], _ question: String
    ) async throws {
        try await World.with { world in
            let terminal = try PseudoTerminal()
            let shell = world.environment.merging(["PS1": "ready> "]) { $1 }.merging(way) { $1 }
            try await terminal.run("/bin/bash", ["--norc", "-i"], environment: shell) { terminal in
                try await terminal.sees("ready> ")
                let target = world.folder + "/work/hello"
                try terminal.type("git clone --quiet \(world.sandbox.resource)/common/hello.git \(target)\r")
                try await terminal.sees(question)
                try terminal.type("\u{3}")
                // git exits immediately; lanyard ends its plugin first.
                for program in ["lanyard-plugin-v1", "git-credential-lanyard"] {
                    while !Self.running(program, in: world).isEmpty {
                        try await Task.sleep(for: .milliseconds(50))
                    }
                }
                try await terminal.ends("ready> ")
                try terminal.type("exit\r")
            }
        }
    }

    @Test func `Ctrl-D at the question is a no`() async throws {
        try await World.with { world in
            let terminal = try PseudoTerminal()
            let ended = try await Self.get(["--no-browser"], in: world, at: terminal) { terminal in
                try await terminal.sees("last page fails to load, paste its address (hidden; 15 minutes): ")
                try terminal.type("\u{4}")
            }
            #expect(ended.status == 1 && ended.lines == ["quit=1"], "\(ended)")
            #expect(terminal.text.contains("lanyard: error: the sign-in was cancelled\n"), "\(terminal.text)")
            #expect(terminal.isAsItWas)
        }
    }

    @Test func `time runs out before one's eyes, and then it is said how to have more`() async throws {
        try await World.with { world in
            let terminal = try PseudoTerminal()
            let ended = try await terminal.run(
                "\(world.folder)/bin/lanyard",
                ["login", "--timeout", "10", "--browser", "true", "\(world.sandbox.resource)/common"],
                environment: world.environment
            ) { terminal in
                for left in ["0:10 left", "0:09 left", "0:05 left"] { try await terminal.sees(left) }
            }
            #expect(ended.status == 1)
            #expect(terminal.text.contains("lanyard: error: nobody signed in within 10 seconds\n"), "\(terminal.text)")
            #expect(terminal.text.contains("lanyard: hint: to try again: lanyard login "), "\(terminal.text)")
            #expect(terminal.text.contains("--timeout"), "\(terminal.text)")
        }
    }

    @Test func `who waits for another lanyard is told so, and gets its token without a word`() async throws {
        try await World.with { world in
            let (first, second) = (try PseudoTerminal(), try PseudoTerminal())
            let request = "url=\(world.sandbox.resource)/common/hello.git\n"
            async let waiting = first.run(
                "\(world.folder)/bin/lanyard", ["get", "--no-browser"], input: request, environment: world.environment
            ) { terminal in
                try await terminal.sees("last page fails to load, paste its address (hidden; 15 minutes): ")
                try await second.sees("waiting for another lanyard to sign in (pid \(terminal.foreground))…")
                try terminal.type(try await Self.elsewhere(world, Self.page(terminal)) + "\r")
            }
            try await first.sees("last page fails to load, paste its address (hidden; 15 minutes): ")
            let told = try await second.run(
                "\(world.folder)/bin/lanyard", ["get"], input: request, environment: world.environment)
            let token = try await waiting.value("password")
            #expect(token != nil && told.value("password") == token, "\(told) \(second.text)")
            #expect(second.written.hasSuffix("\r\u{1B}[K"))
            #expect(!second.text.contains("\n"), "\(second.text)")
        }
    }

    @Test func `a renewal that takes its time is told of while it does, and not afterwards`() async throws {
        try await World.with { world in
            try await world.sandbox.set(#"{"access_token_lifetime": 200}"#)
            let first = try await world.get("common/hello.git", world.browser(as: "alice@contoso.example"))
            #expect(first.status == 0, "\(first)")
            try await world.sandbox.fault(#"{"path": "/token", "delay": 2.5, "times": 1}"#)
            let terminal = try PseudoTerminal()
            let ended = try await Self.get(in: world, at: terminal) { terminal in
                let host = world.sandbox.authority.dropFirst("https://".count)
                try await terminal.sees("lanyard: renewing the token at \(host)…")
            }
            #expect(ended.value("password") != nil && ended.value("password") != first.value("password"), "\(ended)")
            #expect(terminal.written.hasSuffix("\r\u{1B}[K") && !terminal.written.contains("\n"))
        }
    }

    @Test func `a browser's command has words as a shell has them`() async throws {
        try await World.with { world in
            let script = world.folder + "/my browser"
            let calls = world.folder + "/calls"
            let sandbox = "\"\(Built.sandbox)\" sign-in --ca \"\(world.sandbox.caFile)\" --as alice@contoso.example"
            try """
            #!/bin/bash
            printf '%s\\n' "$@" >>"\(calls)"
            exec \(sandbox) "${1#--page=}"
            """.write(toFile: script, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: script)
            let url = "\(world.sandbox.resource)/common/hello.git"
            let command = "'\(script)' --page=%s 'two words'"
            let option = try await world.lanyard(["login", "--browser", command, url])
            #expect(option.status == 0, "\(option)")
            let list = try await world.lanyard(["login", url], ["BROWSER": "/bin/false:\(command)"])
            #expect(list.status == 0, "\(list)")
            let variable = try await world.lanyard(["login", url], ["LANYARD_BROWSER": command])
            #expect(variable.status == 0, "\(variable)")
            let lines = try String(contentsOfFile: calls, encoding: .utf8).split(separator: "\n")
            #expect(lines.count == 6, "\(lines)")
            #expect(lines.enumerated().allSatisfy { $0 % 2 == 0 ? $1.hasPrefix("--page=https://") : $1 == "two words" })

            let unclosed = try await world.lanyard(["login", url], ["LANYARD_BROWSER": "'firefox"])
            #expect(
                unclosed.status == 1 && unclosed.errors.contains("a quote that isn't closed: 'firefox\n"), "\(unclosed)"
            )
            let both = try await world.lanyard(["login", url, "--browser", "firefox", "--no-browser"])
            #expect(both.status == 64, "\(both)")
        }
    }

    @Test func `why a browser's command fails is what it says last, and what it says more keeps no page from opening`()
        async throws
    {
        try await World.with { world in
            let script = world.folder + "/my browser"
            let url = "\(world.sandbox.resource)/common/hello.git"
            func login(_ lines: String) async throws -> Ended {
                try "#!/bin/sh\n\(lines)\n".write(toFile: script, atomically: true, encoding: .utf8)
                chmod(script, 0o700)
                return try await world.lanyard(["login", "--flow", "browser", url], ["BROWSER": "'\(script)'"])
            }
            let start = "lanyard: the browser could not be opened: \(script) failed"
            let long = try await login("printf 'one\\ntwo\\033[1m %01000d\\n \\n' 0 >&2\nexit 3")
            let line = try #require(
                long.errors.split(separator: "\n").first { $0.hasPrefix(start + ": two") }, "\(long)")
            #expect(long.status != 0 && line.count < 600 && !line.contains("\u{1B}"), "\(long)")
            let silent = try await login("exit 3")
            #expect(silent.status != 0 && silent.errors.contains(start + "\n"), "\(silent)")
            chmod(script, 0o600)
            let missing = try await world.lanyard(["login", "--flow", "browser", url], ["BROWSER": "'\(script)'"])
            #expect(
                missing.status != 0 && missing.errors.contains("opened: \(script) could not be started\n"), "\(missing)"
            )
            let sandbox = "'\(Built.sandbox)' sign-in --ca '\(world.sandbox.caFile)' --as alice@contoso.example"
            let chatty = try await login("head -c 200000 /dev/zero >&2\nexec \(sandbox) \"$1\"")
            #expect(chatty.status == 0, "\(chatty)")
        }
    }

    @Test func `the label of an error is red where there are colours, and nothing else ever is`() async throws {
        let environment = ["PATH": Programs.folder, "HOME": "/nonexistent"]
        let cases: [([String: String], Bool)] = [([:], true), (["NO_COLOR": "1"], false), (["TERM": "dumb"], false)]
        for (variables, hasColours) in cases {
            let terminal = try PseudoTerminal()
            let ended = try await terminal.run(
                Built.lanyard, ["get"], input: "nonsense\n", environment: environment.merging(variables) { $1 })
            #expect(ended.status == 1)
            let red = "lanyard: \u{1B}[1;31merror:\u{1B}[0m the request"
            #expect(terminal.written.contains(red) == hasColours, "\(terminal.written)")
            #expect(terminal.written.contains("\u{1B}") == hasColours)
            #expect(terminal.lines.first?.hasPrefix("lanyard: error: the request cannot be read") == true)
        }
    }

    @Test func `git at a terminal hears nothing once it is signed in`() async throws {
        try await World.with { world in
            let terminal = try PseudoTerminal()
            let first = try await world.get("common/hello.git", world.browser(as: "alice@contoso.example"))
            #expect(first.status == 0)
            let ended = try await Self.get(in: world, at: terminal)
            #expect(ended.value("password") != nil && terminal.written.isEmpty, "\(terminal.written)")
        }
    }
}
