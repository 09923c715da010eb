import Glibc
import Secrets
import SystemPackage
import Testing

@testable import PluginKit
@testable import PluginWire

/// A plugin made of closures, run in the test's process on pipes.
private struct ScriptedPlugin: AuthorityPlugin {
    let description = PluginDescription(name: "scripted", version: "1", protocols: ["v1"], flows: [.browser])
    let body: @Sendable (any Conversation) async -> String

    func authorize(_ request: PluginRequest, _ user: any Conversation) async throws(PluginError) -> PluginResult {
        let account = PluginAccount(homeAccountID: "u.t", username: await body(user))
        return PluginResult(
            accessToken: Secret("AT"), expiresIn: 1, scopes: [], environment: "e", realm: "r", account: account)
    }

    func exchange(_ request: PluginRequest) async throws(PluginError) -> PluginCredential {
        PluginCredential(
            username: Secret(request.audience ?? ""), secret: request.accessToken,
            fields: [PluginField("A", Secret("1=2"))], expiresIn: nil)
    }

    func renew(_ request: PluginRequest) async throws(PluginError) -> PluginResult {
        throw PluginError(.interactionRequired, "no")
    }

    func signOut(_ request: PluginRequest, _ user: any Conversation) async throws(PluginError) {}
}

/// The host's end of the pipes.
private struct FakeHost {
    private let toPlugin: (readEnd: FileDescriptor, writeEnd: FileDescriptor)
    private let fromPlugin: (readEnd: FileDescriptor, writeEnd: FileDescriptor)
    let status: Task<Int32, Never>
    private let blocks: AsyncStream<Attributes>

    init(_ body: @escaping @Sendable (any Conversation) async -> String) throws {
        toPlugin = try FileDescriptor.pipe()
        fromPlugin = try FileDescriptor.pipe()
        signal(SIGPIPE, SIG_IGN)
        let (input, output) = (toPlugin.readEnd, fromPlugin.writeEnd)
        status = Task {
            let status = await PluginMain.serve(ScriptedPlugin(body: body), input: input, output: output)
            try? output.close()
            return status
        }
        blocks = StreamConversation.blocks(of: fromPlugin.readEnd)
    }

    func send(_ text: String) throws { _ = try toPlugin.writeEnd.writeAll(text.utf8) }
    func hangUp() throws { try toPlugin.writeEnd.close() }

    /// Returns the lines of the next block.
    func next() async -> [String]? {
        var iterator = blocks.makeAsyncIterator()
        return await iterator.next()?.lines.map { "\($0.key)=\($0.value)" }
    }

    func username() async -> String? {
        while let block = await next() {
            if block.first == "event=result" { return block.first { $0.hasPrefix("username=") } }
        }
        return nil
    }
}

@Suite(.timeLimit(.minutes(1)))
struct PluginMainTests {
    private static let request = "operation=authorize\nauthority=https://a.b/c\nclient_id=x\ngrease_q=1\n\n"

    @Test func `each reply goes to the event it answers`() async throws {
        let host = try FakeHost { user in
            async let one = user.ask(.prompt(kind: .public, message: "1"))
            let first = await one
            let second = await user.ask(.openURL(url: "https://a.b/", redirectURI: nil))
            return "\(first == .answer(Secret("a"))) \(second == .done)"
        }
        try host.send(Self.request)
        #expect(await host.next() == ["event=prompt", "kind=public", "message=1"])
        try host.send("reply=prompt\nstatus=answer\nvalue=a\n\n")
        #expect(await host.next() == ["event=open-url", "url=https://a.b/"])
        try host.send("reply=open-url\nstatus=done\n\n")
        #expect(await host.username() == "username=true true")
        #expect(await host.status.value == 0)
    }

    @Test func `blank lines on their own are no block, before the request and between replies`() async throws {
        let host = try FakeHost { user in
            await user.ask(.openURL(url: "https://a.b/", redirectURI: nil)) == .done ? "done" : "not"
        }
        try host.send("\n\r\n" + Self.request + "\n\n")
        #expect(await host.next() == ["event=open-url", "url=https://a.b/"])
        try host.send("\nreply=open-url\nstatus=done\n\n\n")
        #expect(await host.username() == "username=done")
        #expect(await host.status.value == 0)
    }

    @Test func `an ask that was cancelled returns at once, and its late reply goes nowhere`() async throws {
        let host = try FakeHost { user in
            let page = Task { await user.ask(.openURL(url: "https://a.b/", redirectURI: nil)) }
            try? await Task.sleep(for: .milliseconds(50))
            page.cancel()
            let given = await page.value
            let code = await user.ask(
                .showCode(userCode: "C", verificationURI: "https://a.b/", message: "", expiresIn: 9))
            return "\(given == .cancelled) \(code == .done)"
        }
        try host.send(Self.request)
        #expect(await host.next()?.first == "event=open-url")
        #expect(await host.next()?.first == "event=show-code")
        try host.send("reply=open-url\nstatus=cancelled\n\nreply=show-code\nstatus=done\n\n")
        #expect(await host.username() == "username=true true")
    }

    @Test func `one question waits at a time`() async throws {
        let host = try FakeHost { user in
            let replies = await withTaskGroup(of: PluginReply.self) { group in
                for number in 0..<8 { group.addTask { await user.ask(.prompt(kind: .public, message: "\(number)")) } }
                return await group.reduce(into: Set<Secret>()) { set, reply in
                    if case .answer(let text) = reply { set.insert(text) }
                }
            }
            return "\(replies.count)"
        }
        try host.send(Self.request)
        for number in 0..<8 {
            #expect(await host.next()?.first == "event=prompt")
            try host.send("reply=prompt\nstatus=answer\nvalue=\(number)\n\n")
        }
        #expect(await host.username() == "username=8")
    }

    @Test func `the end of standard input cancels what waits`() async throws {
        let host = try FakeHost { user in
            let reply = await user.ask(.prompt(kind: .public, message: "?"))
            return "\(reply == .cancelled) \(Task.isCancelled)"
        }
        try host.send(Self.request)
        #expect(await host.next()?.first == "event=prompt")
        try host.hangUp()
        #expect(await host.username()?.hasPrefix("username=true") == true)
    }

    @Test func `an operation that does not end when cancelled does not keep the process`() async throws {
        let host = try FakeHost { _ in
            while !Task.isCancelled { try? await Task.sleep(for: .seconds(1)) }
            await withCheckedContinuation { (never: CheckedContinuation<Void, Never>) in
                Task.detached {
                    try? await Task.sleep(for: .seconds(20))
                    never.resume()
                }
            }
            return ""
        }
        try host.send(Self.request)
        try host.hangUp()
        #expect(await host.status.value == 1)
    }

    @Test(arguments: [
        ("operation=describe\n\n", "event=result|name=scripted|version=1|protocol[]=v1|flow[]=browser"),
        ("operation=dance\n\n", "event=error|code=unsupported|message=this plugin does not know the operation dance"),
        ("operation=renew\n\n", "event=error|code=invalid-request|message=the request has no `authority`"),
        (
            "operation=renew\nauthority=https://a.b/c\nclient_id=x\nrefresh_token=r\n\n",
            "event=error|code=interaction-required|message=no"
        ),
        ("operation=sign-out\nauthority=https://a.b/c\nclient_id=x\n\n", "event=result"),
        (
            "operation=revoke\nauthority=https://a.b/c\nclient_id=x\nrefresh_token=r\n\n",
            "event=error|code=unsupported|message=scripted can't revoke tokens"
        ),
        (
            "operation=revoke\nauthority=https://a.b/c\nclient_id=x\n\n",
            "event=error|code=invalid-request|message=the request has no `refresh_token`"
        ),
        (
            "operation=authenticate\nidentity=managed\nmanaged_id=system\n\n",
            "event=error|code=unsupported|message=scripted serves no identities of applications or machines"
        ),
        ("operation=authenticate\n\n", "event=error|code=invalid-request|message=the request has no `identity`"),
        (
            "operation=exchange\nauthority=https://a.b\nclient_id=x\nexchange=e\naudience=c.d\naccess_token=t\n\n",
            "event=result|username=c.d|secret=t|field[]=A=1=2"
        ),
        (
            "operation=probe\nauthority=https://a.b\nclient_id=x\n\n",
            "event=error|code=unsupported|message=scripted cannot be probed"
        ),
        (
            "operation=probe\nidentity=managed\nmanaged_id=system\n\n",
            "event=error|code=unsupported|message=scripted cannot be probed"
        ),
        (
            "operation=probe\nidentity=managed\n\n",
            "event=error|code=invalid-request|message=the request has no `managed_id`"
        ),
        ("operation=probe\n\n", "event=error|code=invalid-request|message=the request has no `authority`"),
        ("grease_q=1\n\n", "event=error|code=invalid-request|message=the request has no `operation`"),
    ])
    func `a request gets one answer`(_ request: String, _ answer: String) async throws {
        let host = try FakeHost { _ in "" }
        try host.send(request)
        #expect(await host.next()?.joined(separator: "|") == answer)
        #expect(await host.status.value == 0)
    }

    @Test func `a request that is cut short gets no answer`() async throws {
        let host = try FakeHost { _ in "" }
        try host.send("operation=authorize\n")
        try host.hangUp()
        #expect(await host.status.value == 1)
    }

    @Test(arguments: [[], ["lanyard-plugin-v2"], ["lanyard-plugin-v1", "--help"]])
    func `an unknown state machine is refused with exit status 64`(_ arguments: [String]) async {
        #expect(await PluginMain.run(ScriptedPlugin { _ in "" }, arguments: ["plugin"] + arguments) == 64)
    }
}
