import Foundation
import TestSupport
import Testing

/// `unlock`, and the offer to unlock by commands that need the keyring: a real gnome-keyring gets the password.
@Suite struct UnlockTests {
    private static let request = "protocol=https\nhost=git.example\n"
    private static let stored = request + "username=alice\npassword=s3cret\n\n"
    private static let answer = "username=alice\npassword=s3cret\n"

    /// Runs the body with a keyring that contains a password and was locked, or hasn't been unlocked since its daemon
    /// started.
    private func withLocked(
        sinceStart: Bool = false, _ body: @Sendable (KeyringFixture) async throws -> Void
    ) async throws {
        try await KeyringFixture.with(.unlocked) { keyring in
            let kept = try await keyring.run(Built.lanyard, ["store"], input: Self.stored)
            #expect(kept.status == 0 && kept.errors.isEmpty, "\(kept)")
            if sinceStart { try await keyring.endProvider() } else { try await keyring.lock() }
            try await body(keyring)
        }
    }

    @Test(arguments: [false, true])
    func `a password on stdin unlocks the keyring, and a wrong one is told`(sinceStart: Bool) async throws {
        try await withLocked(sinceStart: sinceStart) { keyring in
            let locked = try await keyring.run(Built.lanyard, ["get"], input: Self.request + "\n")
            let told = "lanyard: error: the keyring is locked\nlanyard: hint: unlock it: lanyard unlock\n"
            #expect(locked.status == 0 && locked.output.isEmpty && locked.errors == told, "\(locked)")

            let wrong = try await keyring.run(Built.lanyard, ["unlock"], input: "wrong\n")
            #expect(wrong.status == 1 && wrong.output.isEmpty, "\(wrong)")
            #expect(wrong.errors.hasPrefix("lanyard: error: that is not the keyring's password\n"), "\(wrong)")

            let right = try await keyring.run(Built.lanyard, ["unlock"], input: KeyringFixture.password + "\n")
            #expect(right.status == 0 && right.errors == "lanyard: the keyring is unlocked\n", "\(right)")
            let got = try await keyring.run(Built.lanyard, ["get"], input: Self.request + "\n")
            #expect(got.output.contains("password=s3cret\n") && got.errors.isEmpty, "\(got)")

            let again = try await keyring.run(Built.lanyard, ["unlock"])
            #expect(again.status == 0 && again.errors == "lanyard: the keyring is unlocked already\n", "\(again)")
        }
    }

    /// Debian and others have systemd listen for the daemon, which takes the socket over.
    @Test func `where systemd listens for gnome-keyring, its keyring is unlocked and the first one made`() async throws
    {
        try await withLocked { keyring in
            try await keyring.listening {
                let wrong = try await keyring.run(Built.lanyard, ["unlock"], input: "wrong\n")
                #expect(wrong.errors.hasPrefix("lanyard: error: that is not the keyring's password\n"), "\(wrong)")
                let right = try await keyring.run(Built.lanyard, ["unlock"], input: KeyringFixture.password + "\n")
                #expect(right.status == 0 && right.errors == "lanyard: the keyring is unlocked\n", "\(right)")
                let got = try await keyring.run(Built.lanyard, ["get"], input: Self.request + "\n")
                #expect(got.output.contains("password=s3cret\n") && got.errors.isEmpty, "\(got)")
            }
        }
        try await KeyringFixture.with(.noKeyring) { keyring in
            try await keyring.listening {
                let made = try await keyring.run(Built.lanyard, ["unlock"], input: "new one")
                #expect(made.errors == "lanyard: the keyring was created and is unlocked\n", "\(made)")
                _ = try await keyring.run(Built.lanyard, ["store"], input: Self.stored)
            }
            try await keyring.listening {
                let right = try await keyring.run(Built.lanyard, ["unlock"], input: "new one\n")
                #expect(right.status == 0, "\(right)")
                let got = try await keyring.run(Built.lanyard, ["get"], input: Self.request + "\n")
                #expect(got.output.contains("password=s3cret\n"), "\(got)")
            }
        }
    }

    /// The offer at a terminal is another way to the same socket.
    @Test func `where systemd listens for gnome-keyring, get asks for the password at a terminal`() async throws {
        try await withLocked { keyring in
            try await keyring.listening {
                let terminal = try PseudoTerminal()
                let ended = try await terminal.run(
                    Built.lanyard, ["get"], input: Self.request + "\n", environment: keyring.environment
                ) { terminal in
                    try await terminal.sees("lanyard: password of the keyring: ")
                    try terminal.type(KeyringFixture.password + "\r")
                }
                #expect(ended.output.hasSuffix(Self.answer), "\(ended) \(terminal.text)")
            }
        }
    }

    @Test func `a socket of another program's gets no password`() async throws {
        try await withLocked { keyring in
            // Somebody listens where the daemon would, and no daemon holds the socket.
            let run = try #require(keyring.environment["XDG_RUNTIME_DIR"])
            let other = "\(run)/keyring/control"
            let script = """
                import socket, sys, time
                import os
                os.unlink(sys.argv[1])
                listener = socket.socket(socket.AF_UNIX)
                listener.bind(sys.argv[1])
                listener.listen(4)
                open(sys.argv[1] + ".ready", "w")
                connection = listener.accept()[0]
                print(connection.recv(100))
                """
            async let listening = keyring.run("/usr/bin/python3", ["-c", script, other])
            for _ in 0..<6000 where access(other + ".ready", F_OK) != 0 { try await Task.sleep(for: .milliseconds(10)) }
            let ended = try await keyring.run(Built.lanyard, ["unlock"], input: KeyringFixture.password + "\n")
            #expect(ended.status == 1 && ended.errors.contains("no control socket"), "\(ended)")
            #expect(try await listening.output == "b''\n")
        }
    }

    @Test func `gnome-keyring's socket is found in a cache whose name would be a pattern`() async throws {
        try await withLocked { keyring in
            let run = try #require(keyring.environment["XDG_RUNTIME_DIR"])
            let cache = "\(run)/[cache]"
            #expect(mkdir(cache, 0o700) == 0 && symlink("\(run)/keyring", "\(cache)/keyring-ABCDEF") == 0)
            let ended = try await keyring.run(
                Built.lanyard, ["unlock"], environment: ["XDG_CACHE_HOME": cache, "XDG_RUNTIME_DIR": "\(run)/none"],
                input: KeyringFixture.password + "\n")
            #expect(ended.status == 0 && ended.errors == "lanyard: the keyring is unlocked\n", "\(ended)")
        }
    }

    @Test func `where there is no keyring yet, one is made that the next session finds`() async throws {
        try await KeyringFixture.with(.noKeyring) { keyring in
            let made = try await keyring.run(Built.lanyard, ["unlock"], input: "new one")
            #expect(made.status == 0 && made.errors == "lanyard: the keyring was created and is unlocked\n", "\(made)")
            _ = try await keyring.run(Built.lanyard, ["store"], input: Self.stored)
            try await keyring.endProvider()
            let right = try await keyring.run(Built.lanyard, ["unlock"], input: "new one\n")
            #expect(right.status == 0, "\(right)")
            let got = try await keyring.run(Built.lanyard, ["get"], input: Self.request + "\n")
            #expect(got.output.contains("password=s3cret\n"), "\(got)")
        }
    }

    @Test(arguments: ["", "\n", "two\nlines\n", "a\0b", String(repeating: "x", count: 5000)])
    func `what can be no password is refused and nothing is tried`(input: String) async throws {
        try await KeyringFixture.with(.neverUnlocked) { keyring in
            let ended = try await keyring.run(Built.lanyard, ["unlock"], input: input)
            #expect(ended.status == 1 && ended.output.isEmpty, "\(ended)")
            #expect(
                ended.errors.hasPrefix("lanyard: error: ") && ended.errors.contains("\nlanyard: hint: "), "\(ended)")
            #expect(!ended.errors.contains("not the keyring's password"))
        }
    }

    @Test(arguments: [
        (KeyringFixture.State.noBus, "there is no D-Bus session"), (.staleBus, "there is no D-Bus session"),
        (.noProvider, "no keyring service"), (.hung, "does not answer"),
    ])
    func `where there is no keyring service to ask, that is told`(state: KeyringFixture.State, why: String) async throws
    {
        try await KeyringFixture.with(state) { keyring in
            let ended = try await keyring.run(Built.lanyard, ["unlock"], input: "x\n")
            #expect(ended.status == 1 && ended.errors.contains(why), "\(ended)")
            #expect(ended.errors.contains("\nlanyard: hint: "), "\(ended)")
        }
    }

    @Test func `at a terminal the password is asked for and not shown`() async throws {
        try await withLocked { keyring in
            let terminal = try PseudoTerminal()
            let ended = try await terminal.run(Built.lanyard, ["unlock"], environment: keyring.environment) {
                terminal in
                try await terminal.sees("lanyard: password of the keyring: ")
                try terminal.type(KeyringFixture.password + "\r")
            }
            #expect(ended.status == 0, "\(ended) \(terminal.text)")
            #expect(terminal.text.contains("lanyard: the keyring is unlocked\n"), "\(terminal.text)")
            #expect(!terminal.text.contains(KeyringFixture.password) && terminal.isAsItWas)
            #expect(terminal.lines.allSatisfy { $0.count <= 80 }, "\(terminal.text)")
        }
    }

    @Test(arguments: [(1, Int32(0)), (3, 1)])
    func `a new keyring's password is asked for twice, and again if the two differ`(slips: Int, status: Int32)
        async throws
    {
        try await KeyringFixture.with(.noKeyring) { keyring in
            let terminal = try PseudoTerminal()
            let ended = try await terminal.run(Built.lanyard, ["unlock"], environment: keyring.environment) {
                terminal in
                for count in 1...min(slips + 1, 3) {
                    try await terminal.sees("lanyard: password of the new keyring: ", times: count)
                    try terminal.type("one\r")
                    try await terminal.sees("lanyard: repeat the password: ", times: count)
                    try terminal.type(count > slips ? "one\r" : "two\r")
                }
            }
            #expect(ended.status == status, "\(ended) \(terminal.text)")
            #expect(terminal.text.contains("lanyard: the two passwords differ; try again\n"), "\(terminal.text)")
            #expect(terminal.text.contains("error: the two passwords differ") == (status == 1), "\(terminal.text)")
        }
    }

    @Test func `the first keyring is made when a sign-in needs it`() async throws {
        try await World.with(.noKeyring) { world in
            let url = "\(world.sandbox.resource)/contoso/hello.git"
            let environment = world.environment.merging(world.browser(as: "alice@contoso.example")) { $1 }
            for arguments in [["get"], ["login", url]] {
                let terminal = try PseudoTerminal()
                let ended = try await terminal.run(
                    Built.lanyard, arguments, input: "url=\(url)\n\n", environment: environment
                ) { terminal in
                    try await terminal.sees("lanyard: password of the new keyring: ")
                    guard arguments != ["get"] else { return try terminal.type("\r") }
                    try terminal.type("one\r")
                    try await terminal.sees("lanyard: repeat the password: ")
                    try terminal.type("one\r")
                }
                let told = "lanyard: there is no keyring yet; a password creates one, Enter creates none"
                #expect(terminal.text.contains(told), "\(terminal.text)")
                #expect(ended.status == (arguments == ["get"] ? 1 : 0), "\(ended) \(terminal.text)")
            }
            let got = try await world.get("contoso/hello.git")
            #expect(got.status == 0 && got.output.contains("password="), "\(got)")
        }
    }

    @Test func `explain says that lanyard would ask for the password, and asks for nothing`() async throws {
        try await withLocked { keyring in
            let url = "https://example.com/repo"
            let terminal = try PseudoTerminal()
            let ended = try await terminal.run(
                Built.lanyard, ["explain", url], environment: keyring.environment
            ) { _ in }
            let told = "lanyard would ask you for the password of the keyring first"
            #expect(ended.status == 0 && "\(ended) \(terminal.text)".contains(told), "\(ended) \(terminal.text)")
            let alone = try await keyring.run(Built.lanyard, ["explain", url])
            #expect(alone.output.contains("lanyard would print nothing: the keyring is locked"), "\(alone)")
        }
    }

    /// What is typed at the offer, and what comes of it.
    private static let offers = [
        ([KeyringFixture.password], answer, ""), (["wrong", KeyringFixture.password], answer, "; try again\n"),
        ([""], "", "lanyard: error: the keyring is locked\n"),
        (["wrong", ""], "", "lanyard: error: the keyring is locked\n"),
        (["wrong", "wrong", "wrong"], "", "lanyard: that is not the keyring's password\n"),
    ]

    @Test(arguments: offers)
    func `get asks up to three times for the password at a terminal, and abstains without`(
        typed: [String], answer: String, told: String
    ) async throws {
        try await withLocked { keyring in
            let terminal = try PseudoTerminal()
            let ended = try await terminal.run(
                Built.lanyard, ["get"], input: Self.request + "\n", environment: keyring.environment
            ) { terminal in
                for (index, password) in typed.enumerated() {
                    try await terminal.sees("lanyard: password of the keyring: ", times: index + 1)
                    try terminal.type(password + "\r")
                }
            }
            #expect(ended.status == 0 && ended.output.hasSuffix(answer) && ended.output.isEmpty == answer.isEmpty)
            #expect(told.isEmpty || terminal.text.contains(told), "\(terminal.text)")
            #expect(terminal.text.contains("hint: unlock it: lanyard unlock") == answer.isEmpty, "\(terminal.text)")
            let asked = terminal.text.components(separatedBy: "password of the keyring: ").count - 1
            #expect(asked == typed.count && terminal.isAsItWas)
        }
    }

    /// What a user runs, and what it says of a keyring without accounts.
    private static let commands: [([String], String)] = [
        (["status", "--accounts"], "nobody is signed in"), (["logout", "--all"], "nobody is signed in"),
        (["logout"], "nobody is signed in"), (["use"], "nobody is signed in"), (["use", "-"], "nobody is signed in"),
        (["cache", "list"], "nothing is stored"), (["cache", "clear"], "there is nothing to remove"),
        (["cache", "clear", "--damaged"], "nothing is damaged"),
        (["export", "--output", "/dev/null/x"], "can't be written"),
        (["import", "--from", "git-libsecret", "--dry-run"], "would import"),
    ]

    @Test func `whatever a user runs asks for the password at a terminal, and stops without`() async throws {
        try await withLocked { keyring in
            for (command, told) in Self.commands {
                for password in ["", KeyringFixture.password] {
                    let terminal = try PseudoTerminal()
                    let ended = try await terminal.run(Built.lanyard, command, environment: keyring.environment) {
                        terminal in
                        try await terminal.sees("lanyard: password of the keyring: ")
                        try terminal.type(password + "\r")
                    }
                    let isOpen = !password.isEmpty
                    #expect(terminal.text.contains(told) == isOpen, "\(command): \(terminal.text)")
                    #expect(terminal.text.contains("error: the keyring is locked") != isOpen, "\(terminal.text)")
                    #expect(isOpen || ended.status == 1, "\(command): \(ended)")
                    let asked = terminal.text.components(separatedBy: "password of the keyring: ").count - 1
                    #expect(asked == 1, "\(command): \(terminal.text)")
                }
                let alone = try await keyring.run(Built.lanyard, command)
                #expect(!alone.errors.contains("locked"), "\(alone)")
                try await keyring.lock()
            }
            // These only look.
            for command in [["status"], ["doctor"], ["explain", "https://example.com"]] {
                let terminal = try PseudoTerminal()
                try await terminal.run(Built.lanyard, command, environment: keyring.environment)
                #expect(!terminal.text.contains("password of the keyring: "), "\(command): \(terminal.text)")
            }
        }
    }

    @Test(arguments: [["GIT_TERMINAL_PROMPT": "0"], ["LANYARD_INTERACTIVE": "0"], ["CI": "1"]])
    func `nobody is asked who is not to be`(_ extra: [String: String]) async throws {
        try await withLocked { keyring in
            let terminal = try PseudoTerminal()
            let ended = try await terminal.run(
                Built.lanyard, ["get"], input: Self.request + "\n",
                environment: keyring.environment.merging(extra) { $1 })
            #expect(ended.status == 0 && ended.output.isEmpty, "\(ended)")
            #expect(terminal.text.contains("lanyard: hint: unlock it: lanyard unlock"), "\(terminal.text)")
            #expect(!terminal.text.contains("password of the keyring"), "\(terminal.text)")
        }
    }
}
