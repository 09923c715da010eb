import Foundation
import TestSupport
import Testing

/// The question for a user at a terminal if several accounts are possible.
@Suite struct AccountMenuTests {
    static let path = AccountChoiceTests.path
    static let alice = AccountChoiceTests.alice
    static let carol = AccountChoiceTests.carol
    static let question = "name [1]: "
    static let again = "or Ctrl-C to cancel: "

    /// Runs the body in a world with two accounts signed in and none selected, and a file with a request.
    static func withTwo(_ body: @escaping @Sendable (World) async throws -> Void) async throws {
        try await World.with { world in
            try await world.signIn(alice, carol)
            try FileManager.default.removeItem(atPath: world.selectionFile)
            try "url=\(world.sandbox.resource)/\(path)\n".write(
                toFile: world.folder + "/work/request", atomically: true, encoding: .utf8)
            try await body(world)
        }
    }

    static let get = ["sh", "-c", "exec lanyard get <request"]

    @Test func `git asks once, on the terminal, and remembers`() async throws {
        try await Self.withTwo { world in
            let url = "\(world.sandbox.resource)/\(Self.path)"
            let clone = try await world.atTerminal(
                ["git", "clone", "-q", url, "one"], answering: [(Self.question, "2")])
            #expect(clone.status == 0, "\(clone)")
            #expect(
                clone.output == """
                    lanyard: which account for \(url)?
                      1) alice@contoso.example   Alice Archer, work or school
                      2) carol@fabrikam.example  Carol Cooper, work or school
                      3) sign in with another account
                    lanyard: number or name [1]: 2
                    lanyard: using carol@fabrikam.example for \(world.sandbox.authority)/common from
                             now on; to change that: lanyard use

                    """, "\(clone)")
            let second = try await world.atTerminal(["git", "clone", "-q", url, "two"], answering: [])
            #expect(second.status == 0 && second.output.isEmpty, "\(second)")
            #expect(try await AccountChoiceTests.user(world) == Self.carol)
        }
    }

    @Test func `explain says that the user is asked`() async throws {
        try await Self.withTwo { world in
            let url = "\(world.sandbox.resource)/\(Self.path)"
            let ended = try await world.atTerminal(["lanyard", "explain", url], answering: [])
            #expect(ended.output.contains("lanyard would ask you which account to use:"), "\(ended)")
            let json = try await world.atTerminal(["lanyard", "explain", "--json", url], answering: [])
            #expect(json.status == 0 && json.output.contains("\"choose\""), "\(json)")
        }
    }

    @Test func `arrow keys and a part of a name choose where lines can be drawn over`() async throws {
        try await Self.withTwo { world in
            let url = "\(world.sandbox.resource)/\(Self.path)"
            for keys in ["\u{1B}[B\r", "\u{1B}[A\u{1B}[A\r", "FABRI\r", "2\r"] {
                try? FileManager.default.removeItem(atPath: world.selectionFile)
                let terminal = try PseudoTerminal()
                let ended = try await terminal.run(
                    "\(world.folder)/bin/lanyard", ["get"], input: "url=\(url)\n", environment: world.environment
                ) { terminal in
                    try await terminal.sees("Enter picks the marked one: ")
                    #expect(!terminal.isAsItWas)
                    try terminal.type(keys)
                }
                #expect(ended.status == 0 && ended.value("username") == Self.carol, "\(ended) \(terminal.text)")
                let line = "  2) carol@fabrikam.example  Carol Cooper, work or school\r\n"
                #expect(terminal.written.contains("\u{1B}[J\(line)lanyard: using \(Self.carol)"), "\(terminal.written)")
                #expect(terminal.isAsItWas)
            }
        }
    }

    @Test func `Ctrl-C in the list leaves the terminal as it was, and the shell's prompt alone`() async throws {
        try await Self.withTwo { world in
            let terminal = try PseudoTerminal()
            let shell = world.environment.merging(["PS1": "ready> "]) { $1 }
            try await terminal.run("/bin/bash", ["--norc", "-i"], environment: shell) { terminal in
                try await terminal.sees("ready> ")
                try terminal.type("lanyard get <\(world.folder)/work/request\r")
                try await terminal.sees("Enter picks the marked one: ")
                try terminal.type("car\u{3}")
                try await terminal.ends("ready> ")
                try terminal.type("exit\r")
            }
            #expect(terminal.isAsItWas)
            #expect(!FileManager.default.fileExists(atPath: world.selectionFile))
        }
    }

    @Test func `Enter takes the first, and a wrong answer is asked about again`() async throws {
        try await Self.withTwo { world in
            let wrong = [(Self.question, "0"), (Self.again, "4"), (Self.again, "-1"), (Self.again, "nobody")]
            let ended = try await world.atTerminal(Self.get, answering: wrong + [(Self.again, "")])
            #expect(ended.status == 0 && ended.output.contains("type a number from 1 to 3"), "\(ended)")
            #expect(ended.value("username") == Self.alice, "\(ended)")
        }
    }

    @Test(arguments: [["^C"], ["b", "^C"], ["^D"], ["a", "b", "c", "d", "e"]])
    func `no answer is a cancellation`(_ answers: [String]) async throws {
        try await Self.withTwo { world in
            let dialogue = answers.enumerated().map { ($0.offset == 0 ? Self.question : Self.again, $0.element) }
            let ended = try await world.atTerminal(Self.get, answering: dialogue)
            let isInterrupted = answers.last == "^C"
            #expect(ended.status == (isInterrupted ? 256 - SIGINT : 1), "\(ended)")
            #expect(ended.lines.contains("quit=1") && !ended.output.contains("password="), "\(ended)")
            #expect(ended.output.contains("lanyard: error: no account was chosen\n") != isInterrupted, "\(ended)")
            #expect(!FileManager.default.fileExists(atPath: world.selectionFile))
        }
    }

    @Test func `another account signs in and is the current one then`() async throws {
        try await Self.withTwo { world in
            let bob = AccountChoiceTests.bob
            let ended = try await world.atTerminal(
                Self.get, answering: [(Self.question, "3")], world.browser(as: bob))
            #expect(ended.status == 0 && ended.output.contains("username=\(bob)"), "\(ended)")
            #expect(ended.output.contains("lanyard: using \(bob) for "), "\(ended)")
            #expect(try await world.lanyard(["use"]).output == "\(bob)\n")
        }
    }

    @Test func `two who would ask at once ask once`() async throws {
        try await Self.withTwo { world in
            let both = "lanyard get <request & lanyard get <request; wait"
            let ended = try await world.atTerminal(["sh", "-c", both], answering: [(Self.question, "2")])
            #expect(ended.output.split(separator: "\n").count { $0.contains("which account") } == 1, "\(ended)")
            #expect(
                ended.output.split(separator: "\n").count { $0.contains("username=\(Self.carol)") } == 2, "\(ended)")
        }
    }

    @Test(arguments: ["--non-interactive", "CI=true", "GIT_TERMINAL_PROMPT=0", "credential.interactive"])
    func `where nobody may be asked, nobody is`(_ how: String) async throws {
        try await Self.withTwo { world in
            var extra: [String: String] = [:]
            if let equals = how.firstIndex(of: "=") {
                extra[String(how[..<equals])] = String(how[equals...].dropFirst())
            }
            if how == "credential.interactive" {
                _ = try await world.git(["config", "--global", "credential.interactive", "false"])
            }
            let get = how.hasPrefix("--") ? ["sh", "-c", "exec lanyard get \(how) <request"] : Self.get
            if !how.hasPrefix("--") {
                let url = "\(world.sandbox.resource)/\(Self.path)"
                let explain = try await world.atTerminal(["lanyard", "explain", url], answering: [], extra)
                #expect(explain.output.contains("lanyard would give no answer: several accounts"), "\(explain)")
            }
            let ended = try await world.atTerminal(get, answering: [], extra)
            #expect(ended.status == 1 && !ended.output.contains("1)"), "\(ended)")
            #expect(ended.output.hasPrefix("quit=1\nlanyard: error: several accounts could be meant: "), "\(ended)")
        }
    }

    @Test func `use and logout ask where no account is named`() async throws {
        try await Self.withTwo { world in
            let use = try await world.atTerminal(["lanyard", "use"], answering: [(Self.question, Self.carol)])
            #expect(use.status == 0 && use.output.hasSuffix("lanyard: using \(Self.carol) from now on\n"), "\(use)")
            #expect(!use.output.contains("another account"))
            let logout = try await world.atTerminal(["lanyard", "logout"], answering: [(Self.question, "")])
            #expect(logout.status == 0 && logout.output.hasSuffix("lanyard: signed out \(Self.carol)\n"), "\(logout)")
            #expect(try await AccountChoiceTests.user(world) == Self.alice)
        }
    }

    @Test func `use takes the only account without asking at a terminal, and prints it elsewhere`() async throws {
        try await World.with { world in
            try await world.signIn(Self.alice)
            let elsewhere = try await world.lanyard(["use"])
            #expect(elsewhere.status == 0 && elsewhere.output == "\(Self.alice)\n", "\(elsewhere)")
            let terminal = try await world.atTerminal(["lanyard", "use"], answering: [])
            #expect(
                terminal.status == 0 && terminal.output == "lanyard: using \(Self.alice) from now on\n", "\(terminal)")
        }
    }
}
