import Foundation
import Glibc
import TestSupport
import Testing

/// The shells' completions, in the shells themselves: keys are typed at a terminal, and the result is checked.
@Suite struct CompletionTests {
    static let shells = ["bash", "zsh", "fish"]

    /// The time limit of an answer: 0.8 seconds, plus the start and exit of a process.
    static let longest = Duration.seconds(1.5)
    /// The number of attempts for something that a busy machine may not do in time.
    static let patience = 20

    @Test(arguments: shells) func `commands, options and their values`(shell: String) async throws {
        try await expect(
            in: shell,
            [
                "lanyard statu\t": ["lanyard", "status"],
                "lanyard help statu\t": ["lanyard", "help", "status"],
                "lanyard configure gi\t": ["lanyard", "configure", "git"],
                "lanyard token --non-i\t": ["lanyard", "token", "--non-interactive"],
                "lanyard token --flow dev\t": ["lanyard", "token", "--flow", "device-code"],
                "lanyard token --flow=dev\t": ["lanyard", "token", "--flow=device-code"],
                "lanyard login --prompt sel\t": ["lanyard", "login", "--prompt", "select_account"],
                "lanyard login --client-id 11\t": ["lanyard", "login", "--client-id", CompletionWorld.clientID],
                "lanyard token https://git.\t": ["lanyard", "token", CompletionWorld.url],
                "lanyard token 'https://git.\t": ["lanyard", "token", CompletionWorld.url],
                "lanyard login --authority https://login.example.o\t":
                    ["lanyard", "login", "--authority", "https://login.example.org/contoso"],
                "lanyard token --scope api\t": ["lanyard", "token", "--scope", "api://git.contoso.example/.default"],
                "lanyard rule remove https://git.\t": ["lanyard", "rule", "remove", CompletionWorld.url],
                "lanyard sandbox ser\t": ["lanyard", "sandbox", "serve"],
                "lanyard rules rem\t": ["lanyard", "rules", "remove"],
                "lanyard rule add --resource 'Azure Dev\t": ["lanyard", "rule", "add", "--resource", "Azure DevOps"],
                "lanyard rule add --resource Azure\\ Dev\t": ["lanyard", "rule", "add", "--resource", "Azure DevOps"],
                "lanyard rule add --token i\t": ["lanyard", "rule", "add", "--token", "id"],
                "lanyard rule add --exchange aws-st\t": ["lanyard", "rule", "add", "--exchange", "aws-sts"],
                "lanyard rule add --exchange-parameter sess\t":
                    ["lanyard", "rule", "add", "--exchange-parameter", "session-name="],
                "lanyard config set plugin.google.uni\t":
                    ["lanyard", "config", "set", "plugin.google.universe-domain"],
                "lanyard explain --for dock\t": ["lanyard", "explain", "--for", "docker"],
                "lanyard plugin check aad-c\t": ["lanyard", "plugin", "check", "aad-common"],
                "lanyard forward remove dev\t": ["lanyard", "forward", "remove", "devbox"],
                "lanyard configure ssh dev\t": ["lanyard", "configure", "ssh", "devbox"],
                "lanyard import --from git-\t": ["lanyard", "import", "--from", "git-libsecret"],
                // The cursor may be inside the line: here after `--flow de`.
                "lanyard token --flow de --json\u{1}\(String(repeating: "\u{6}", count: 23))\t":
                    ["lanyard", "token", "--flow", "device-code", "--json"],
                // An option that is already present isn't offered again.
                "lanyard token --non-interactive --non\t": ["lanyard", "token", "--non-interactive", "--non"],
                "git-credential-lanyard capa\t": ["git-credential-lanyard", "capability"],
                "git-credential-lanyard acc\t": ["git-credential-lanyard", "acc"],
            ])
    }

    @Test(arguments: shells) func `names of accounts are quoted as the line needs them`(shell: String) async throws {
        var expected: [String: [String]] = [:]
        for name in CompletionWorld.names {
            let start = String(name.prefix(1))
            for opened in ["", "'", "\""] {
                expected["lanyard logout \(opened)\(start)\t"] = ["lanyard", "logout", name]
            }
        }
        for name in CompletionWorld.names.prefix(3) {
            let start = String(name.prefix(1))
            expected["lanyard token --account=\(start)\t"] = ["lanyard", "token", "--account=\(name)"]
            expected["lanyard token --account \(start)\t"] = ["lanyard", "token", "--account", name]
        }
        // From the middle of a name, after what the shells consider the end of a word.
        expected["lanyard logout ali\\ ce@\t"] = ["lanyard", "logout", CompletionWorld.names[0]]
        expected["lanyard logout 'ali'\\ ce\t"] = ["lanyard", "logout", CompletionWorld.names[0]]
        expected["lanyard logout mail:bob@\t"] = ["lanyard", "logout", "mail:bob@contoso.example"]
        try await expect(in: shell, expected)
    }

    @Test(arguments: shells) func `accounts of one name are told apart by their identifiers`(shell: String) async throws
    {
        try await expect(
            in: shell,
            [
                "lanyard logout twin-1\t": ["lanyard", "logout", "twin-1.contoso"],
                "lanyard use twin-1\t": ["lanyard", "use", "twin-1.contoso"],
            ])
    }

    @Test(arguments: ["zsh", "fish"]) func `what a candidate is stands beside it`(shell: String) async throws {
        let notes = [
            ("lanyard \t", "Sign an account out"),
            ("lanyard logout \t", "Alice: \"Al\" Ånders, work or school, contoso"),
            ("lanyard logout twin-\t", "Twin@contoso.example, The Other, work or school, contoso"),
            ("lanyard token --\t", "Never prompt; exit 2 if a user is needed"),
        ]
        try await CompletionWorld.with(.unlocked) { world in
            var left = notes
            for _ in 1...Self.patience where !left.isEmpty {
                let typed = try await world.type(left.map(\.0), at: shell)
                left = zip(left, typed).filter { !$1.screen.contains($0.1) }.map(\.0)
            }
            #expect(left.isEmpty)
        }
    }

    @Test func `use offers to go back, and nothing else does`() async throws {
        try await Home.with { home in
            let lines = [
                (["use", ""], true), (["use", "-"], true), (["logout", ""], false), (["logout", "-"], false),
                (["use", "alice", ""], false), (["use", "--authority", ""], false),
            ]
            for (words, isOffered) in lines {
                let answer = try await answered {
                    try await home.lanyard(["complete", "fish", "lanyard"] + words)
                }
                let found = answer.lines.contains("-\tthe account used before")
                #expect(found == isOffered, "\(words): \(answer)")
            }
        }
    }

    // fish 3.6.0 looks up git's own commands under the wrong name; it does complete git-credential-lanyard itself.
    @Test(arguments: ["bash", "zsh"]) func `git's completion knows the helper`(shell: String) async throws {
        try await expect(
            in: shell,
            [
                "git credential-lany\t": ["git", "credential-lanyard"],
                "git credential-lanyard capa\t": ["git", "credential-lanyard", "capability"],
                "git -C / credential-lanyard --flow dev\t":
                    ["git", "-C", "/", "credential-lanyard", "--flow", "device-code"],
                "git credential-lanyard acc\t": ["git", "credential-lanyard", "acc"],
            ])
    }

    @Test(arguments: shells) func `Tab runs no program of the current folder`(shell: String) async throws {
        try await CompletionWorld.with(.unlocked) { world in
            for path in ["lanyard", "tools/lanyard", "tools/git-credential-lanyard"] { try world.trap(path) }
            // bash loads the completion at the first Tab, and finds it for a path at the next.
            let first = "lanyard statu\t"
            let keys = [
                "./lanyard statu\t", "tools/lanyard statu\t", "tools/git-credential-lanyard ca\t",
                "lanyard exec -- ./lanyard statu\t", "./tools/../lanyard statu\t",
            ]
            _ = try await world.type([first] + keys, at: shell)
            #expect(!FileManager.default.fileExists(atPath: world.mark))
            // One with an absolute path is the one that is meant.
            var typed: [CompletionWorld.Typed] = []
            for _ in 1...Self.patience where typed.last?.words?.last != "status" {
                typed = try await world.type([first, "\(world.absolutePath) statu\t"], at: shell)
            }
            #expect(typed.last?.words == [world.absolutePath, "status"])
        }
    }

    @Test(arguments: shells) func `a command to run is completed as it is by itself`(shell: String) async throws {
        try await expect(
            in: shell,
            [
                "lanyard exec -- git-credential-lan\t": ["lanyard", "exec", "--", "git-credential-lanyard"],
                "lanyard configure docker --y\t": ["lanyard", "configure", "docker", "--yes"],
                "lanyard configure git --au\t": ["lanyard", "configure", "git", "--authority"],
                "lanyard exec --env NAME -- lanyard statu\t":
                    ["lanyard", "exec", "--env", "NAME", "--", "lanyard", "status"],
                "lanyard exec \(CompletionWorld.url) -- lanyard token --flow=dev\t":
                    ["lanyard", "exec", CompletionWorld.url, "--", "lanyard", "token", "--flow=device-code"],
            ])
    }

    @Test(arguments: shells) func `files are completed where a file is meant`(shell: String) async throws {
        try await CompletionWorld.with(.noBus) { world in
            // A file of the test's own, because the shell may run the typed command and write to it.
            let file = try world.keyring.scratch.write("", to: "some-notes")
            let start = file.dropLast("tes".count)
            let lines = ["lanyard status >\(start)", "lanyard export --output \(start)", "lanyard import \(start)"]
            var left = lines
            for _ in 1...Self.patience where !left.isEmpty {
                let typed = try await world.type(left.map { $0 + "\t" }, at: shell)
                left = zip(left, typed).filter { !$1.line.hasPrefix($0 + "tes") }.map(\.0)
            }
            #expect(left.isEmpty)
        }
    }

    @Test(arguments: KeyringFixture.State.allCases)
    func `whatever the keyring is like, there is an answer at once and no complaint`(state: KeyringFixture.State)
        async throws
    {
        try await CompletionWorld.with(state) { world in
            let ended = try await world.complete("lanyard logout ") { ended in
                let hasCandidates = !["", "values\n"].contains(ended.output)
                return hasCandidates == (state == .unlocked) && ended.duration < Self.longest
            }
            #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended)")
        }
    }

    @Test func `a bus that does not answer ends the wait silently`() async throws {
        try await CompletionWorld.with(.noBus) { world in
            let silent = try SilentSocket(at: world.keyring.scratch.path + "/silent")
            defer { silent.close() }
            let ended = try await world.complete(
                "lanyard logout ", ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(silent.path)"]
            ) { $0.duration < Self.longest }
            #expect(ended.status == 0 && ["", "values\n"].contains(ended.output) && ended.errors.isEmpty, "\(ended)")
        }
    }

    @Test func `a pipe in the configuration's place is not waited for`() async throws {
        try await CompletionWorld.with(.noBus) { world in
            try FileManager.default.removeItem(atPath: world.configFile)
            #expect(mkfifo(world.configFile, 0o600) == 0)
            let ended = try await world.complete("lanyard token --scope ") {
                $0.duration < Self.longest && !$0.output.isEmpty
            }
            // An operation that exceeds the time limit yields nothing.
            #expect(ended.status == 0 && ended.output.hasPrefix("values\n") && ended.errors.isEmpty, "\(ended)")
        }
    }

    @Test func `a configuration that is wrong takes only its own values away`() async throws {
        try await CompletionWorld.with(.unlocked) { world in
            try "wrong".write(toFile: world.configFile, atomically: true, encoding: .utf8)
            let scopes = try await world.complete("lanyard token --scope api") { $0.output == "values\n" }
            #expect(scopes.status == 0 && scopes.errors.isEmpty, "\(scopes)")
            _ = try await world.complete("lanyard tok") { $0.output == "values\ntoken\n" }
        }
    }

    @Test(
        arguments: [
            ("lanyard logout a\\ b", "values\n"), ("lanyard ; tok", "values\n"), ("lanyard 'tok", "values\ntoken\n"),
            ("lanyard 2>/dev/null tok", "values\ntoken\n"), ("lanyard tok\\", "values\ntoken\n"),
            ("lanyard token --flow='dev", "values\ndevice-code\n"), ("lanyard \"tok\"", "values\ntoken\n"),
            ("lanyard nonsense x", "values\n"), ("lanyard token -- --fl", "values\n"),
            ("lanyard <in tok", "values\ntoken\n"), ("lanyard token >", "files\n"),
        ]) func `bash's lines are read as bash reads them`(line: String, answer: String) async throws
    {
        try await CompletionWorld.with(.noBus) { world in
            _ = try await world.complete(line) { $0.output == answer }
        }
    }

    /// Types the keys at the shell and compares the resulting line.
    ///
    /// Keys with another result are typed again: on a busy machine, the keyring may take longer than a user who presses
    /// Tab should wait, and then there is nothing to complete with.
    private func expect(in shell: String, _ expected: [String: [String]]) async throws {
        try await CompletionWorld.with(.unlocked) { world in
            var left = expected
            for attempt in 1...Self.patience where !left.isEmpty {
                let keys = left.keys.sorted()
                for (keys, typed) in zip(keys, try await world.type(keys, at: shell)) {
                    let isAsExpected = typed.words == left[keys]
                    if isAsExpected { left[keys] = nil }
                    let wasLast = attempt == Self.patience
                    #expect(isAsExpected || !wasLast, "\(shell): \(keys.debugDescription): \(typed.line)")
                }
            }
            #expect(left.isEmpty)
        }
    }
}

/// A socket that accepts connections and sends nothing.
private struct SilentSocket {
    let path: String
    private let descriptor: CInt

    init(at path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0, listen(descriptor, 8) == 0 else { throw POSIXError(.EIO) }
    }

    func close() { Glibc.close(descriptor) }
}
