import Addresses
import Claims
import FoundationEssentials
import Glibc
import Secrets
import Synchronization
import Testing

@testable import PluginHost
@testable import PluginWire

/// A misbehaviour, and the resulting error.
struct Misbehaviour: CustomTestStringConvertible, Sendable {
    let behaviour: String
    let code: PluginError.Code
    let message: String
    var testDescription: String { behaviour }

    init(_ behaviour: String, _ message: String, _ code: PluginError.Code = .internal) {
        self.behaviour = behaviour
        self.code = code
        self.message = message
    }

    static let all = [
        Misbehaviour(
            "dies-mid-line",
            "the fake plugin ended in the middle of a message: it wrote “event=resu” without a line feed"),
        Misbehaviour(
            "dies-mid-block",
            "the fake plugin ended in the middle of a message: it wrote 8 lines without the blank line that ends a block"
        ),
        Misbehaviour("silent", "the fake plugin ended without an answer"),
        Misbehaviour("exits-3", "the fake plugin ended without an answer (exit status 3)"),
        Misbehaviour("refuses", "the fake plugin refused to speak lanyard-plugin-v1"),
        Misbehaviour("killed", "the fake plugin was killed by signal 9 before it answered"),
        Misbehaviour("floods-line", "the fake plugin sent a line of more than 64 KiB"),
        Misbehaviour("floods-blocks", "the fake plugin sent more than 1000 messages"),
        Misbehaviour("floods-keys", "the fake plugin sent more than 4 MiB"),
        Misbehaviour("garbage", "the fake plugin sent a line that is not key=value (line 1): “??no equals sign”"),
        Misbehaviour("not-utf8", "the fake plugin sent text that is not UTF-8 (line 1): “e=\u{FFFD}\u{FFFD}”"),
        Misbehaviour("no-event", "the fake plugin sent a broken message (line 1), with no `event`"),
        Misbehaviour("another-operation", "the fake plugin gave a result with no `access_token`"),
        Misbehaviour(
            "token-with-space",
            "the fake plugin gave a result with an invalid `access_token`: it must be visible ASCII without blanks"),
        Misbehaviour("twice", "the fake plugin sent `result` (line 10) after its answer"),
        Misbehaviour("twice-later", "the fake plugin sent `result` (line 10) after its answer"),
        Misbehaviour(
            "another-environment",
            "the fake plugin answered for a different authority than requested: its `environment` is evil.example"),
        Misbehaviour("closes-stdout", "the fake plugin was killed by signal 15 before it answered"),
        Misbehaviour(
            "bad-url",
            "the fake plugin sent a broken `open-url` (line 1), with an invalid `url`: it must be an https URL, or http on localhost, 127.0.0.1 or [::1], without blanks"
        ),
        Misbehaviour("unknown-code", "something new"),
        Misbehaviour("hangs", "the fake plugin did not answer within a second, and wrote nothing", .unavailable),
        Misbehaviour(
            "half-a-block",
            "the fake plugin did not answer within a second, it wrote 2 lines without the blank line that ends a block",
            .unavailable),
        Misbehaviour(
            "near-miss",
            "the fake plugin ended without an answer: its event `Result` is unknown; did it mean `result`?"),
        Misbehaviour("ignores-term", "the fake plugin did not answer within a second", .unavailable),
        Misbehaviour("slow-user", "nobody signed in within 2 seconds", .cancelled),
    ]
}

@Suite(.timeLimit(.minutes(2)))
struct PluginRunnerTests {
    private var brief: PluginTimeouts {
        var timeouts = PluginTimeouts()
        timeouts.silence = .seconds(1)
        timeouts.user = .seconds(2)
        timeouts.exit = .milliseconds(500)
        return timeouts
    }

    private func run(
        _ behaviour: String, _ request: PluginRequest = .sample(), user: any UserInterface = FakeUser(),
        timeouts: PluginTimeouts = PluginTimeouts(), environment: [String: String] = ["PATH": "/usr/bin:/bin"],
        trace: PluginTrace? = nil
    ) async throws -> PluginResult {
        var plugin = Built.plugin("FakePlugin", name: "fake", arguments: [behaviour])
        plugin.supports = Set(PluginSupport.allCases)
        let match = try AuthorityMatch.of(plugin)
        let host = PluginRunner(environment: environment, timeouts: timeouts, trace: trace)
        return try await host.run(request, on: match, user: user)
    }

    @Test(arguments: Misbehaviour.all)
    func `a plugin that misbehaves gives one clear error`(_ row: Misbehaviour) async throws {
        // Deadlines only where they matter: a slow machine must not turn one error into another.
        let needsDeadline = ["closes-stdout", "half-a-block", "hangs", "ignores-term", "slow-user"].contains(
            row.behaviour)
        let error = await #expect(throws: PluginError.self) {
            try await run(
                row.behaviour,
                user: FakeUser { event in
                    if case .openURL = event { .done } else { nil }
                }, timeouts: needsDeadline ? brief : PluginTimeouts())
        }
        #expect(error?.code == row.code)
        #expect(error?.message == row.message)
    }

    @Test func `a byte now and then is silence`() async throws {
        let start = ContinuousClock.now
        let error = await #expect(throws: PluginError.self) { try await run("dribbles", timeouts: brief) }
        #expect(error?.code == .unavailable)
        #expect(error?.message.hasPrefix("the fake plugin did not answer within a second, it wrote “mm") == true)
        // The limit for the whole conversation is 45 minutes.
        #expect(ContinuousClock.now - start < .seconds(60))
    }

    @Test func `the trace has each line as it comes, the wrong one and the host's remarks included`() async throws {
        for (behaviour, line) in [
            ("garbage", "< ??no equals sign"), ("half-a-block", "< message=x"),
            ("near-miss", "# its event `Result` is unknown; did it mean `result`?, replied `unsupported`"),
            ("near-miss-key", "# its key `scope` is unknown; did it mean `scope[]`?"),
        ] {
            let log = TraceLog()
            _ = try? await run(behaviour, timeouts: brief, trace: log.listen)
            #expect(log.text.components(separatedBy: "\n").contains(line), "\(behaviour): \(log.text)")
        }
    }

    @Test func `what a plugin doesn't support isn't asked of it`() async throws {
        var request = PluginRequest.sample()
        request.signIn.prompt = "login"
        var plugin = Built.plugin("FakePlugin", name: "fake", arguments: ["polite"])
        let host = PluginRunner(environment: ["PATH": "/usr/bin:/bin"])
        let error = await #expect(throws: PluginError.self) {
            try await host.run(request, on: try .of(plugin), user: FakeUser())
        }
        #expect(error == PluginError(.unsupported, "the fake plugin can't force a prompt", hint: "leave out --prompt"))
        plugin.supports = [.prompt]
        _ = try await host.run(request, on: try .of(plugin), user: FakeUser())
    }

    @Test(arguments: ["RT-top-secret", "abc+d/e=", "1234"])
    func `a secret that the plugin repeats is masked everywhere`(_ secret: String) async throws {
        let log = TraceLog()
        let user = FakeUser()
        var request = PluginRequest.sample(.renew)
        request.refreshToken = Secret(secret)
        let error = await #expect(throws: PluginError.self) {
            try await run("repeats-secrets", request, user: user, trace: log.listen)
        }
        #expect(error?.message == "no answer to <redacted>" && error?.hint == "give <redacted> again")
        let shown = "\(user.events) \(String(describing: error)) \(log.text)"
        #expect(!shown.contains(secret) && !shown.contains(secret.percentEncoded), "\(shown)")
        #expect(log.text.contains("! got <redacted> and <redacted>, give AT/1 2"), "\(log.text)")
        #expect(log.text.contains("text=it was <redacted>"), "\(log.text)")
    }

    @Test func `a renewal is for the account that was asked about and no other`() async throws {
        let id = try #require(try await run("polite").account?.homeAccountID)
        var request = PluginRequest.sample(.renew)
        request.account = id.uppercased()
        #expect(try await run("polite", request).account?.homeAccountID == id)
        request.account = "somebody.else"
        let error = await #expect(throws: PluginError.self) { try await run("polite", request) }
        #expect(error?.code == .internal)
        #expect(error?.message == "the fake plugin \(Self.otherAccount)")
    }

    @Test(arguments: [
        ("r", true, true), ("R", true, false), ("another", true, false), ("another", false, true),
    ])
    func `a realm is the path's if each path is an issuer by itself`(
        _ realm: String, _ isSeparate: Bool, _ isTaken: Bool
    ) async throws {
        var match = try AuthorityMatch.of(Built.plugin("FakePlugin", name: "fake", arguments: ["realm", realm]))
        match.isSeparate = isSeparate
        let host = PluginRunner(environment: ["PATH": "/usr/bin:/bin"])
        if isTaken {
            #expect(try await host.run(.sample(), on: match, user: FakeUser()).realm == realm)
        } else {
            let error = await #expect(throws: PluginError.self) {
                try await host.run(.sample(), on: match, user: FakeUser())
            }
            #expect(error?.message == "the fake plugin answered for another realm than the authority's path")
        }
    }

    private func silent(
        _ behaviour: String, account: String? = nil, within limit: Duration = .seconds(60)
    ) async throws -> PluginResult {
        let plugin = Built.plugin("FakePlugin", name: "fake", arguments: [behaviour])
        var request = PluginRequest.sample(.silent)
        request.account = account
        return try await PluginRunner(environment: ["PATH": "/usr/bin:/bin"])
            .silent(request, by: plugin, at: try AuthorityMatch.of(plugin), within: limit)
    }

    private static let otherAccount = "answered for a different account than requested: see its `home_account_id`"

    @Test func `a token of another program's sign-in is the account's, and comes without a refresh token`() async throws
    {
        let named = try await silent("polite", account: "U.T")
        #expect(named.account?.homeAccountID == "u.t")
        let any = try await silent("polite")
        #expect(any.accessToken == Secret("AT-1"))
        for (behaviour, account, message) in [
            ("polite", "somebody.else", "the fake plugin \(Self.otherAccount)"),
            ("renewable", "u.t", "the fake plugin gave a result with an unexpected `refresh_token`"),
        ] {
            let error = await #expect(throws: PluginError.self) { try await silent(behaviour, account: account) }
            #expect(error?.message == message)
        }
    }

    @Test(arguments: ["hangs", "ignores-term", "late-open-url"])
    func `nobody waits longer for it than there is time, and the next one not at all`(_ behaviour: String) async throws
    {
        let start = ContinuousClock.now
        let error = await #expect(throws: PluginError.self) { try await silent(behaviour, within: .milliseconds(100)) }
        #expect(error?.code == .unavailable && error?.retryAfter == 60, "\(String(describing: error))")
        #expect(ContinuousClock.now - start < .seconds(2))
    }

    /// The stored memos, by what they are about.
    private final class Kept: Sendable {
        let memos = Mutex<[String: PluginMemo]>([:])

        var keeper: PluginMemos {
            PluginMemos { subject in
                self.memos.withLock { $0[subject]?.text }
            } keep: { memo, subject in
                self.memos.withLock { $0[subject] = memo }
            }
        }
    }

    @Test func `a memo comes back with the next request to the authority, unless that fails because of it`()
        async throws
    {
        let kept = Kept()
        let match = try AuthorityMatch.of(Built.plugin("FakePlugin", name: "fake", arguments: ["remembers"]))
        let host = PluginRunner(environment: ["PATH": "/usr/bin:/bin"], memos: kept.keeper)
        var request = PluginRequest.sample()
        for memo in ["x", "xx", "xxx"] {
            #expect(try await host.run(request, on: match, user: FakeUser()).memo?.text == memo)
        }
        var other = request
        other.authority += "/other"
        #expect(try await host.run(other, on: match, user: FakeUser()).memo?.text == "x")
        #expect(kept.memos.withLock { $0.count } == 2)
        for (code, isKept) in [("interaction-required", true), ("throttled", true), ("internal", false)] {
            request.scopes = ["fail:\(code)"]
            await #expect(throws: PluginError.self) { try await host.run(request, on: match, user: FakeUser()) }
            #expect(kept.memos.withLock { $0.count } == (isKept ? 2 : 1), "\(code)")
        }
        // Without a memo, it continues.
        #expect(try await host.run(request, on: match, user: FakeUser()).memo?.text == "x")
    }

    @Test(arguments: PluginRequest.Operation.allCases)
    func `memos are for the operations that give something`(_ operation: PluginRequest.Operation) {
        let subject = PluginMemos.subject(of: .sample(operation), PluginManifest(name: "fake"))
        #expect((subject != nil) == [.authorize, .renew, .authenticate, .exchange].contains(operation))
    }

    @Test func `a polite plugin's result is read, and what it says is made fit to show`() async throws {
        let user = FakeUser()
        let result = try await run("polite", user: user)
        #expect(result.accessToken.reveal() == "AT-1")
        #expect(result.account?.username == "alice")
        #expect(user.events == [.progress(message: "working?[2J")])
    }

    @Test(arguments: [
        ("floods-stderr", "alice"), ("alias", "alice"), ("lives-on", "alice"), ("never-reads", "alice"),
        ("grease", "greased"),
    ])
    func `a plugin that is only odd is served`(_ behaviour: String, _ username: String) async throws {
        var request = PluginRequest.sample()
        // More than a pipe can hold, for the plugin that never reads it.
        if behaviour == "never-reads" {
            let value = String(repeating: "x", count: 4000)
            for number in 0..<200 { request.signIn.queryParameters["p\(number)"] = value }
        }
        let result = try await run(behaviour, request)
        #expect(result.account?.username == username)
    }

    @Test func `a token without a known end comes through with the name it goes by`() async throws {
        let result = try await run("endless")
        #expect(result.expiresIn == nil)
        #expect(result.basicUsername == "oauth2")
    }

    @Test(arguments: ["application", "machine"])
    func `an identity gets a token for its own place and nobody's account`(_ behaviour: String) async throws {
        let plugin = Built.plugin("FakePlugin", name: "fake", arguments: [behaviour])
        let host = PluginRunner(environment: ["PATH": "/usr/bin:/bin"])
        let match = try AuthorityMatch.of(plugin)
        let isMachine = behaviour == "machine"
        var request = PluginRequest(.authenticate)
        request.identity = PluginIdentity(isMachine ? .managed : .client)
        request.identity?.managedID = "system"
        let result = try await host.authenticate(request, by: plugin, at: isMachine ? nil : match)
        #expect(result.account == nil)
        #expect(result.memo == PluginMemo("m", expiresIn: 9))
        let error = await #expect(throws: PluginError.self) {
            try await host.authenticate(request, by: plugin, at: isMachine ? match : nil)
        }
        let environment = isMachine ? "localhost" : "login.example"
        #expect(
            error?.message
                == "the fake plugin answered for a different authority than requested: its `environment` is \(environment)"
        )
    }

    @Test func `an exchange gives a credential, none of which a trace shows`() async throws {
        let plugin = Built.plugin("FakePlugin", name: "fake", arguments: ["credential"])
        let log = TraceLog()
        let host = PluginRunner(environment: ["PATH": "/usr/bin:/bin"], trace: log.listen)
        var request = PluginRequest.sample(.exchange)
        request.exchange = "acr"
        request.audience = "registry.example"
        request.accessToken = Secret("AT")
        let credential = try await host.exchange(request, by: plugin)
        #expect(credential.username == Secret("u-AT"))
        #expect(credential.fields == [PluginField("NAME", Secret("hidden"))])
        for secret in ["AT\n", "u-AT", "s3cret", "hidden"] { #expect(!log.text.contains(secret)) }
        #expect(log.text.contains("username=<redacted>"))
    }

    @Test func `a probe tells what works, and one that takes long is ended`() async throws {
        func probe(_ behaviour: String) async throws -> PluginProbe {
            let plugin = Built.plugin("FakePlugin", name: "fake", arguments: [behaviour])
            var timeouts = PluginTimeouts()
            timeouts.probe = behaviour == "hangs" ? .seconds(1) : .seconds(60)
            let host = PluginRunner(environment: ["PATH": "/usr/bin:/bin"], timeouts: timeouts)
            return try await host.probe(.sample(.probe), by: plugin)
        }
        let found = try await probe("probed")
        #expect(found.checks == [.authority, .init(rawValue: "weather")])
        #expect(found.time == 1_700_000_000 && found.proxy == "proxy.example:8080")
        let error = await #expect(throws: PluginError.self) { try await probe("hangs") }
        #expect(error?.message == "the fake plugin did not answer within a second, and wrote nothing")
    }

    @Test func `only a broker's plugin is told where the session bus is`() async throws {
        let surroundings = ["PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": "/run/user/7"]
        for (environment, isTold) in [
            (surroundings, true), (["PATH": "/bin", "DBUS_SESSION_BUS_ADDRESS": "unix:abstract=x"], true),
            (["PATH": "/bin"], false),
        ] {
            for isBroker in [false, true] {
                var plugin = Built.plugin("FakePlugin", name: "fake", arguments: ["surroundings"])
                let pattern = AuthorityPattern(hosts: ["*"], path: [.rest])
                plugin.brokered = isBroker ? [BrokerPattern(kind: "aad", authority: pattern)] : []
                let host = PluginRunner(environment: environment)
                let result = try await host.run(.sample(), on: try .of(plugin), user: FakeUser())
                let names = result.account?.username ?? ""
                #expect(names.contains("DBUS_SESSION_BUS_ADDRESS") == (isTold && isBroker))
            }
        }
    }

    @Test func `the plugin's own error comes through, fit to show`() async throws {
        let error = await #expect(throws: PluginError.self) { try await run("error") }
        #expect(error?.code == .throttled)
        #expect(error?.message == "slow ?down")
        #expect(error?.retryAfter == 7)
        #expect(error?.errorCodes == ["50196"])
    }

    @Test func `a result that comes while the page is open ends the waiting`() async throws {
        let user = FakeUser()
        let result = try await run("late-open-url", user: user)
        #expect(result.account?.username == "alice")
        #expect(user.events.count == 1)
        // The task of the user interface ends separately.
        for _ in 0..<100 where user.abandonedCount == 0 { try await Task.sleep(for: .milliseconds(20)) }
        #expect(user.abandonedCount == 1)
    }

    @Test func `a pasted redirect reaches the plugin`() async throws {
        let user = FakeUser { _ in .redirected(Secret("http://localhost:1/?code=abc")) }
        #expect(try await run("answered-open-url", user: user).account?.username == "pasted")
    }

    @Test func `a later event takes the place of an open page, and replies keep their order`() async throws {
        let user = FakeUser { event in
            if case .prompt = event { .answer(Secret("42")) } else { nil }
        }
        #expect(try await run("open-then-prompt", user: user).account?.username == "in-order")
    }

    @Test(arguments: [
        ("answered-open-url", PluginRequest.Flow.deviceCode, false), ("answered-open-url", .browser, true),
        ("answered-open-url", .paste, true), ("shows-code", .browser, false), ("shows-code", .deviceCode, true),
    ])
    func `the user sees only what belongs to a flow that was asked for`(
        _ behaviour: String, _ flow: PluginRequest.Flow, _ isShown: Bool
    ) async throws {
        let (user, log) = (FakeUser { _ in .done }, TraceLog())
        var request = PluginRequest.sample()
        request.flows = [flow]
        _ = try await run(behaviour, request, user: user, trace: log.listen)
        #expect(user.events.isEmpty != isShown)
        #expect(log.text.contains("is of no flow in the request's `flow[]`, replied `unsupported`") != isShown)
    }

    @Test func `a code is shown with the page that has it already`() async throws {
        let user = FakeUser { _ in .done }
        #expect(try await run("shows-code", user: user).account?.username == "told")
        let code = PluginEvent.showCode(
            userCode: "AB-12", verificationURI: "https://login.example/d",
            completeURI: "https://login.example/d?user_code=AB-12", message: "type?it", expiresIn: 900)
        #expect(user.events == [code])
    }

    @Test func `a plugin that opens page after page is stopped at the tenth`() async throws {
        let user = FakeUser { _ in .done }
        let error = await #expect(throws: PluginError.self) { try await run("floods-pages", user: user) }
        #expect(error?.message == "the fake plugin asked for more than 10 pages")
        #expect(user.events.count <= 10)
    }

    @Test func `nobody is asked during a renewal`() async throws {
        let user = FakeUser { _ in .done }
        #expect(try await run("asks-in-any-case", .sample(.renew), user: user).account?.username == "told-nobody")
        #expect(user.events.isEmpty)
    }

    @Test func `a plugin gets a scrubbed environment, no folder of anybody's and its own session`() async throws {
        let environment = [
            "PATH": "/usr/bin:/bin", "HOME": "/root", "LC_ALL": "C", "https_proxy": "http://p:1", "AWS_SECRET": "x",
            "LD_PRELOAD": "", "DBUS_SESSION_BUS_ADDRESS": "unix:x", "TMPDIR": "/tmp",
        ]
        let parts =
            try await run("surroundings", environment: environment).account?.username.split(separator: " ") ?? []
        #expect(parts[0] == "HOME,LC_ALL,PATH,https_proxy")
        #expect(parts[1] == "/")
        #expect(parts[2] == "true")
    }

    /// These folders may belong to another user, who could replace anything created there with a link.
    @Test func `while a plugin runs nothing is made in the folders that the environment names`() async throws {
        let folders = try [TestFolder(), TestFolder()]
        let environment = ["XDG_RUNTIME_DIR": folders[0].path, "TMPDIR": folders[1].path]
        let found = Mutex<[String]>(["the user was not asked"])
        let user = FakeUser { _ in
            let names = folders.map { try? FileManager.default.contentsOfDirectory(atPath: $0.path) }
            found.withLock { $0 = names.flatMap { $0 ?? ["a folder that is gone"] } }
            return .redirected(Secret("http://localhost:1/?code=abc"))
        }
        _ = try await run("answered-open-url", user: user, environment: environment)
        #expect(found.withLock(\.self) == [])
    }

    @Test func `a plugin's children do not outlive the conversation`() async throws {
        let child = try #require(pid_t(try await run("child").account?.username ?? ""))
        for _ in 0..<100 where isAlive(child) { try await Task.sleep(for: .milliseconds(20)) }
        #expect(!isAlive(child))
    }

    @Test func `a daemon that keeps the pipes open does not hold up the host`() async throws {
        let start = ContinuousClock.now
        #expect(try await run("leaves-daemon").account?.username == "alice")
        #expect(ContinuousClock.now - start < .seconds(10))
    }

    @Test func `a plugin that has its answer has the shorter time to go on`() async throws {
        var timeouts = PluginTimeouts()
        timeouts.silence = .seconds(1)
        let user = FakeUser { _ in .answer(Secret("alice")) }
        let error = await #expect(throws: PluginError.self) {
            try await run("silent-after-answer", user: user, timeouts: timeouts)
        }
        #expect(error?.code == .unavailable)
    }

    @Test func `a plugin that ignores SIGTERM is killed`() async throws {
        let user = FakeUser()
        await #expect(throws: PluginError.self) { try await run("ignores-term", user: user, timeouts: brief) }
        guard case .progress(let text)? = user.events.first, let pid = pid_t(text.dropFirst(4)) else {
            Issue.record("no pid was told")
            return
        }
        #expect(!isAlive(pid))
    }

    @Test(arguments: ["hangs", "ends-at-eof"])
    func `cancelling the task stops the plugin soon`(_ behaviour: String) async throws {
        let timeouts = brief
        let start = ContinuousClock.now
        let task = Task { try await run(behaviour, timeouts: timeouts) }
        try await Task.sleep(for: .milliseconds(300))
        task.cancel()
        let error = await #expect(throws: PluginError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(ContinuousClock.now - start < .seconds(10))
    }

    @Test func `a program that is not there is one clear error`() async throws {
        let match = try AuthorityMatch.of(Built.plugin("no-such-program", name: "gone"))
        let error = await #expect(throws: PluginError.self) {
            try await PluginRunner(environment: [:]).run(.sample(), on: match, user: NobodyThere())
        }
        #expect(error?.code == .internal)
        #expect(error?.message == "the gone plugin could not be started: No such file or directory")
    }

    @Test func `a trace shows both directions and no secret`() async throws {
        let log = TraceLog()
        let user = FakeUser { _ in .redirected(Secret("http://localhost:1/?code=abc")) }
        var request = PluginRequest.sample()
        request.refreshToken = Secret("RT-secret")
        _ = try await run("answered-open-url", request, user: user, trace: log.listen)
        #expect(log.text.contains("> operation=authorize"))
        #expect(log.text.contains("< url=https://login.example/authorize?code=<redacted>"))
        #expect(log.text.contains("> status=redirected\n> value=<redacted>"))
        #expect(log.text.contains("< access_token=<redacted>"))
        for secret in ["AT-1", "RT-secret", "SECRET", "code=abc"] { #expect(!log.text.contains(secret)) }
    }
}
