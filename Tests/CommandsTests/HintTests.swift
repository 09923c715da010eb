import Glibc
import Keyring
import Model
import PluginHost
import PluginWire
import Secrets
import SettingsFile
import Terminal
import TestSupport
import Testing

@testable import CommandKit
@testable import Commands
@testable import Diagnosis
@testable import Rules
@testable import TokenAcquisition

/// Commands in hints, which users copy into a shell.
@Suite struct HintTests {
    private static let hostile = AccountRecord(
        homeAccountID: "a.b;reboot", environment: "login.example", realm: "b", username: "bob;$(reboot)@x.example")

    @Test(arguments: HostileText.all)
    func `whatever is put into a command is one word of it, and fit to show`(text: String) {
        let word = ShellWords.quote(text.displayable(limit: 500))
        let isOption = text.utf8.first == UInt8(ascii: "-")
        let commands: [(ShellCommand, String)] = [
            ("git \(text) x", "git \(word) x"), ("git \(ShellCommand(words: ["a", text])) x", "git a \(word) x"),
            ("git\(option: "--as", text) x", "git --as\(isOption ? "=" : " ")\(word) x"),
            ("git\(last: text)", "git\(isOption ? " --" : "") \(word)"),
        ]
        for (command, expected) in commands { #expect(command.text.utf8.elementsEqual(expected.utf8), "\(command)") }
    }

    @Test(arguments: [nil, "", "own/folder", "locked/1000", "locked/1000/more", "file/folder", "relative"])
    func `the hint about a runtime directory makes one that is the user's`(name: String?) async throws {
        try await ScratchDirectory.with { scratch in
            let locked = scratch.path + "/locked"
            #expect(mkdir(locked, 0o555) == 0)
            _ = try scratch.write("", to: "file")
            let folder = name.map { $0.contains("/") ? "\(scratch.path)/\($0)" : $0 }
            let hint = Hint.findingRuntimeFolder(
                folder, systemd: scratch.path + "/none", home: scratch.path + "/a home")
            var environment = ["HOME": scratch.path + "/a home", "PATH": "/usr/bin:/bin"]
            environment["XDG_RUNTIME_DIR"] = folder
            let script = "\(hint.copied ?? "false") && test -O \"$XDG_RUNTIME_DIR\" && echo \"$XDG_RUNTIME_DIR\""
            let ended = try await run("/bin/sh", ["-c", script], environment: environment, folder: scratch.path)
            #expect(ended.status == 0 && ended.output.hasPrefix(scratch.path), "\(hint): \(ended)")
        }
    }

    @Test func `without a home to write to the runtime directory is a temporary one`() async throws {
        try await ScratchDirectory.with { scratch in
            let home = scratch.path + "/locked"
            #expect(mkdir(home, 0o555) == 0)
            let hint = Hint.findingRuntimeFolder(nil, systemd: scratch.path + "/none", home: home)
            let script = "\(hint.copied ?? "false") && test -O \"$XDG_RUNTIME_DIR\""
            let ended = try await run(
                "/bin/sh", ["-c", script], environment: ["TMPDIR": scratch.path, "HOME": home, "PATH": "/usr/bin:/bin"])
            #expect(ended.status == 0, "\(hint): \(ended)")
        }
    }

    @Test func `a file's path in a hint is one word`() {
        let path = "/\(String(repeating: "long/", count: 120))it's mine.toml"
        let error = SettingsError(file: path, line: nil, message: "is open", command: ["chmod", "go-w", path])
        let quoted = path.dropLast(12) + "'\\''s mine.toml"
        #expect(CommandError(error).hints.map(\.line) == ["run: chmod go-w '\(quoted)'"])
    }

    @Test func `what an authority calls an account can't become a command of its own`() throws {
        #expect(ShellCommand.using(account: Self.hostile.username).text == "lanyard use 'bob;$(reboot)@x.example'")
        let request = TokenRequest("https://login.example/b", isConfigured: true, clientID: "c", scopes: [])
        for url in [nil, "https://git.example"] {
            let hints = CommandError(.ambiguousAccount([Self.hostile]), request: request, url: url, in: .ofProcess())
                .hints
            #expect(hints.first?.line.contains(" 'bob;$(reboot)@x.example'") == true, "\(hints)")
        }
        let shared = CommandError(
            .ambiguousAccount([Self.hostile], isShared: true), request: request, url: nil, in: .ofProcess())
        #expect(
            shared.hints.first?.line.hasSuffix("lanyard logout 'bob;$(reboot)@x.example'") == true, "\(shared.hints)")
        let twin = AccountRecord(homeAccountID: "c.d", environment: "login.example", realm: "d", username: "bob")
        var other = Self.hostile
        other.username = "bob"
        var records = StoredRecords()
        records.accounts = [twin, other]
        let known = KnownAccounts(AccountOverview(records, registry: PluginRegistry(plugins: []), history: []))
        let failure = #expect(throws: CommandError.self) { try known.account(typed: "bob", command: "lanyard use") }
        #expect(failure?.hints.contains { $0.copied == "lanyard use 'a.b;reboot'" } == true, "\(failure?.hints ?? [])")
    }

    @Test func `a hint to sign in names the account that was asked for, once`() {
        var request = TokenRequest("https://login.example/b", isConfigured: true, clientID: "c", scopes: [])
        request.account = "alice@x.example"
        let url = "https://git.example"
        for error in [AcquisitionError.interactionRequired(nil), .noSuchAccount("alice@x.example", known: [])] {
            let hints = CommandError(error, request: request, url: url, in: .ofProcess()).hints.map(\.line)
            #expect(hints == ["sign in: lanyard login https://git.example --account alice@x.example"])
        }
    }

    @Test func `a hint to sign in for a URL names what the tool named itself, and nothing of the rule`() {
        var request = TokenRequest(
            "https://login.example/b", isConfigured: true, clientID: "c", scopes: ["s", "t"],
            origin: .rule("https://git.example"))
        func hint() -> String? {
            CommandError(.interactionRequired(nil), request: request, url: "https://git.example", in: .ofProcess())
                .hints
                .first?.line
        }
        #expect(hint() == "sign in: lanyard login https://git.example")
        request.named = [.clientID, .scopes]
        #expect(hint() == "sign in: lanyard login https://git.example --client-id c --scope s --scope t")
    }

    /// A missing part, and the error's text for it.
    struct Lack: CustomTestStringConvertible, Sendable {
        var testDescription: String { message }
        var cause: PluginError?
        var hasAccount = true
        var prompt: String?
        var hint: String?
        let message: String
    }

    private static let lacks = [
        Lack(hasAccount: false, message: ": nobody has signed in to https://login.example/b"),
        Lack(hasAccount: false, hint: "contoso", message: ": nobody has signed in to https://login.example/b"),
        Lack(
            hasAccount: false, hint: "zoe@x.example",
            message: ": zoe@x.example has not signed in to https://login.example/b"),
        Lack(
            message: ": bob;$(reboot)@x.example has no sign-in to renew at https://login.example/b with the client ID c"
        ),
        Lack(
            prompt: "login",
            message: ": bob;$(reboot)@x.example must be asked at https://login.example/b (prompt login)"
        ),
        Lack(
            cause: PluginError(.interactionRequired, "AADSTS50076: MFA"),
            message: ": bob;$(reboot)@x.example at https://login.example/b: AADSTS50076: MFA"),
        Lack(cause: .missing("{}"), hasAccount: false, message: ": the token lacks claims that the server wants"),
    ]

    @Test(arguments: lacks)
    func `where only a user helps, the error says whose sign-in is missing where, and why`(_ lack: Lack) {
        var request = TokenRequest("https://login.example/b", isConfigured: true, clientID: "c", scopes: [])
        request.prompt = lack.prompt
        request.userHint = lack.hint
        let error = AcquisitionError.interactionRequired(lack.cause, account: lack.hasAccount ? Self.hostile : nil)
        let failure = CommandError(error, request: request, url: "https://git.example", in: .ofProcess())
        #expect(failure.message == "interaction required\(lack.message)")
        let claims = lack.cause?.claims.map { " --claims '\($0)'" } ?? ""
        #expect(failure.hints.map(\.line) == ["sign in: lanyard login https://git.example\(claims)"])
        #expect(failure.status == .interactionRequired)
    }

    @Test func `a sign-in that the authority ended is to be tried again once its hint was followed`() {
        let request = TokenRequest("https://login.example/b", isConfigured: true, clientID: "c", scopes: [])
        let error = PluginError(.interactionRequired, "AADSTS50105: blocked", hint: "ask to be assigned")
        let failure = CommandError(
            .plugin(error, name: "aad-tenant"), request: request, url: "https://git.example", in: .ofProcess())
        #expect(failure.hints.map(\.line) == ["ask to be assigned", "to try again: lanyard login https://git.example"])
        #expect(failure.status == .interactionRequired)
    }

    @Test func `the authority's number and the correlation ID share brackets`() {
        func words(_ message: String) -> Message {
            var error = PluginError(.cancelled, message)
            error.errorCodes = ["AADSTS65004"]
            error.correlationID = "c0de"
            return CommandError.words(of: error)
        }
        #expect(words("you declined it (AADSTS65004)") == "you declined it (AADSTS65004, correlation ID c0de)")
        #expect(words("AADSTS65004: no (never)") == "AADSTS65004: no (never) (correlation ID c0de)")
    }

    @Test func `the account that signed in instead of another stays, and the hint says so`() {
        let request = TokenRequest("https://login.example/b", isConfigured: true, clientID: "c", scopes: [])
        let failure = CommandError(
            .wrongAccount(wanted: "zoe", signedIn: Self.hostile, known: [Self.hostile]), request: request,
            url: "https://git.example", in: .ofProcess())
        #expect(
            failure.hints.dropFirst().map(\.line) == [
                "bob;$(reboot)@x.example stays signed in; to sign it out: lanyard logout 'bob;$(reboot)@x.example'"
            ])
    }

    @Test func `a host's own name for who signed in is given where it is to be typed`() {
        func account(at host: String) -> AccountRecord {
            AccountRecord(homeAccountID: "7.\(host)", environment: host, realm: "r", username: "bob_contoso")
        }
        let known = [account(at: "a.example"), account(at: "b.example")]
        var request = TokenRequest("https://a.example", isConfigured: true, clientID: "c", scopes: [])
        func hints(_ url: String?, known: [AccountRecord]) -> [String] {
            CommandError(
                .wrongAccount(wanted: "bob", signedIn: known[0], known: known), request: request, url: url,
                in: .ofProcess()
            ).hints.dropFirst().map(\.line)
        }
        let calls = "if that is you, a.example calls you bob_contoso"
        let logout = "bob_contoso stays signed in; to sign it out: lanyard logout"
        // The name in a URL takes precedence over any choice.
        for (url, named) in [
            ("https://a.example/x/y@z", "https://bob_contoso@a.example/x/y@z"),
            ("https://bob@a.example", "https://bob_contoso@a.example"),
        ] {
            #expect(
                hints(url, known: known) == [
                    "\(calls); name that in the URL: \(named)", "\(logout) bob_contoso@a.example",
                ])
        }
        request.account = "bob"
        #expect(
            hints("https://a.example", known: [known[0]]) == [
                "\(calls); to use it: lanyard use bob_contoso", "\(logout) bob_contoso",
            ])
        #expect(
            hints(nil, known: known) == [
                "\(calls); to use it: lanyard use bob_contoso@a.example", "\(logout) bob_contoso@a.example",
            ])
    }

    @Test func `an account that the tenant does not know is named with the command that chooses another`() {
        var request = TokenRequest("https://login.example/b", isConfigured: true, clientID: "c", scopes: [])
        var cause = PluginError(.interactionRequired, "AADSTS50020: unknown", hint: "ask to be invited")
        cause.reasons = [.otherAccount]
        func hints() -> [String] {
            CommandError(
                .interactionRequired(cause, account: Self.hostile), request: request, url: "https://git.example",
                in: .ofProcess()
            ).hints.map(\.line)
        }
        #expect(
            hints() == [
                "ask to be invited",
                "to use another account here than bob;$(reboot)@x.example: lanyard use ACCOUNT https://git.example",
                "sign in: lanyard login https://git.example",
            ])
        request.account = "bob"
        #expect(hints().count == 2, "a choice changes nothing about who is named")
    }
}
