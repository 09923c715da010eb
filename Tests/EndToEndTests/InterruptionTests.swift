import Foundation
import Glibc
import SeededRandom
import TestSupport
import Testing

/// Whatever becomes of a process that needs a token, a refresh token that is accepted once only isn't lost.
///
/// The authority revokes all tokens of a sign-in if a refresh token is used again, so a single loss shows in the end.
@Suite struct InterruptionTests {
    private static let alice = "alice@contoso.example"
    private static let uncached = ["LANYARD_ANSWER_CACHE": "0"]
    /// The number of interruptions by each way of one caller.
    private static let rounds = 2 * Thoroughness.factor

    /// A way to interrupt a process.
    private struct Blow: Sendable {
        let signal: CInt
        let isForGroup: Bool

        static let all = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGKILL, SIGSTOP].flatMap { signal in
            [false, true].map { Blow(signal: signal, isForGroup: $0) }
        }
    }

    /// Runs the body in a world where alice is signed in, each request renews her token, and refresh tokens are
    /// single-use.
    private static func with(
        lifetime: Int = 200, _ body: @Sendable (World) async throws -> Void
    ) async throws {
        try await World.withEveryTool(signedIn: false) { world in
            try await world.sandbox.set(
                #"{"access_token_lifetime": \#(lifetime), "single_use_refresh_tokens": 1}"#)
            let login = try await world.lanyard(["login", "https://tools.example"], world.browser(as: alice))
            try #require(login.status == 0, "\(login)")
            try await body(world)
        }
    }

    /// Checks that the sign-in can still be renewed, waiting for a renewal that is under way.
    private static func expectSignIn(_ world: World, _ comment: String = "") async throws {
        let claims = "claims={\"access_token\":{\"nbf\":null}}\n"
        let renewed = try await world.lanyard(["get"], uncached, input: "url=https://tools.example/app\n\(claims)")
        #expect(renewed.value("password") != nil, "\(comment): \(renewed)")
    }

    @Test(arguments: ["git", "nuget", "bazel", "az", "docker"])
    func `no signal to a tool's helper or its group costs the sign-in`(_ name: String) async throws {
        let tool = try #require(EveryTool.all.first { $0.description == name })
        try await Self.with { world in
            let call = tool.call(world.place(of: tool))
            let environment = world.environment.merging(call.variables) { $1 }.merging(Self.uncached) { $1 }
            try await world.sandbox.fault(#"{"path": "/token", "delay": 0.15}"#)
            var dice = SeededGenerator(seed: UInt64(47 + name.utf8.count))
            var longest = Duration.milliseconds(600)
            var (struck, ended) = (0, 0)
            for round in 0..<Self.rounds {
                for blow in Blow.all {
                    let status = try await strike(
                        "\(world.folder)/bin/\(tool.program)", call.arguments, input: call.input,
                        environment: environment, by: blow.signal, isForGroup: blow.isForGroup,
                        after: longest * Double.random(in: 0..<1, using: &dice))
                    if status == 0 { ended += 1 } else { struck += 1 }
                    longest = longest * (status == 0 ? 0.8 : 1.1)
                }
                if round % 5 == 4 { try await Self.expectSignIn(world, "\(name), round \(round)") }
            }
            #expect(struck >= Blow.all.count / 3 && ended > 0, "\(struck) struck, \(ended) ended")
            try await Self.expectSignIn(world, name)
        }
    }

    @Test func `no hang-up of an agent's client costs the sign-in`() async throws {
        try await Self.with { world in
            try world.configure(forward: "devbox", urls: ["https://tools.example"])
            try await world.sandbox.fault(#"{"path": "/token", "delay": 0.15}"#)
            try await world.withAgent(Self.uncached) { _ in
                var dice = SeededGenerator(seed: 53)
                for round in 0..<(Self.rounds * 12) {
                    let client = try LocalConnection(to: world.agentSocket())
                    client.send("version=1\nverb=get\nprotocol=https\nhost=tools.example\npath=app\n\n")
                    try await Task.sleep(for: .milliseconds(Int.random(in: 0..<900, using: &dice)))
                    client.close()
                    if round % 10 == 9 { try await Self.expectSignIn(world, "round \(round)") }
                }
            }
            try await Self.expectSignIn(world)
        }
    }

    @Test(arguments: ["nuget", "bazel", "az"])
    func `no time limit of a tool costs the sign-in`(_ name: String) async throws {
        let tool = try #require(EveryTool.all.first { $0.description == name })
        // With and without a token that still lives.
        for lifetime in [200, 0] {
            try await Self.with(lifetime: lifetime) { world in
                try await world.sandbox.clearLog()
                try await world.sandbox.fault(#"{"path": "/token", "delay": 7, "times": 1}"#)
                let asked = try await world.ask(tool, nil, Self.uncached)
                #expect(asked.duration < .seconds(7), "\(asked)")
                #expect(lifetime == 0 ? tool.isFailure(asked) : tool.secret(in: asked) != nil, "\(asked)")
                try await Self.expectSignIn(world, "\(name), \(lifetime)")
            }
        }
    }

    @Test func `an agent that is told to end leaves a renewal alone`() async throws {
        try await Self.with { world in
            try world.configure(forward: "devbox", urls: ["https://tools.example"])
            try await world.sandbox.fault(#"{"path": "/token", "hold": true, "times": 1}"#)
            try await world.withAgent(Self.uncached) { _ in
                let client = try LocalConnection(to: world.agentSocket())
                client.send("version=1\nverb=get\nprotocol=https\nhost=tools.example\npath=app\n\n")
                try await world.sandbox.untilHeld()
            }
            try await world.sandbox.clearFaults()
            try await Self.expectSignIn(world)
        }
    }

    @Test func `a holder of the lock that takes long keeps nobody from a token that lives`() async throws {
        try await Self.with { world in
            try await world.sandbox.fault(#"{"path": "/token", "hold": true, "times": 1}"#)
            @Sendable func get() async throws -> Ended {
                try await world.lanyard(["get"], Self.uncached, input: "url=https://tools.example/app\n")
            }
            async let first = get()
            try await world.sandbox.untilHeld()
            let second = try await get()
            #expect(second.value("password") != nil && second.duration < .seconds(40), "\(second)")
            #expect(try await first.value("password") == second.value("password"))
            try await world.sandbox.clearFaults()
            try await Self.expectSignIn(world)
        }
    }

    @Test func `a stopped holder of the lock is named to those without a terminal`() async throws {
        try await Self.with(lifetime: 0) { world in
            try await world.sandbox.fault(#"{"path": "/token", "hold": true, "times": 1}"#)
            async let first = world.lanyard(["get"], Self.uncached, input: "url=https://tools.example/app\n")
            try await world.sandbox.untilHeld()
            let bazel = try #require(EveryTool.all.first { $0.description == "bazel" })
            let second = try await world.ask(bazel, nil, Self.uncached)
            let named = try #require(second.errors.firstMatch(of: #/another lanyard \(pid (\d+)\)/#), "\(second)")
            let holder = try #require(pid_t(named.output.1))
            kill(holder, SIGSTOP)
            let third = try await world.ask(bazel, nil, Self.uncached)
            kill(holder, SIGCONT)
            #expect(
                third.errors.replacing("\n", with: " ").contains(
                    "waiting for another lanyard to renew the token (pid \(holder)), which is stopped"), "\(third)")
            #expect(third.errors.contains("kill -CONT \(holder)"), "\(third)")
            try await world.sandbox.clearFaults()
            #expect(try await first.value("password") != nil)
            try await Self.expectSignIn(world)
        }
    }

    @Test func `the waiting process gets the trace, and no secret is in an argument or a variable`() async throws {
        try await Self.with { world in
            let exported = try await world.lanyard(["export"]).output
            let secrets = exported.matches(of: #/"secret" ?: ?"([^"]{20,})"/#).map { String($0.output.1) }
            try #require(secrets.count >= 2)
            try await world.sandbox.fault(#"{"path": "/token", "hold": true, "times": 1}"#)
            let trace = ["LANYARD_TRACE": "plugin"].merging(Self.uncached) { $1 }
            async let got = world.lanyard(["get"], trace, input: "url=https://tools.example/app\n")
            try await world.sandbox.untilHeld()
            let text = RunningProcess.all.map(\.text).filter { $0.contains("/lanyard redeem") }.joined()
            #expect(!text.isEmpty)
            for secret in secrets { #expect(!text.contains(secret)) }
            try await world.sandbox.clearFaults()
            let ended = try await got
            #expect(ended.errors.contains("lanyard: trace: > operation=renew"), "\(ended)")
            #expect(ended.errors.contains("lanyard: trace: < "), "\(ended)")
            for secret in secrets { #expect(!ended.errors.contains(secret)) }
        }
    }

    @Test func `a new refresh token that can't be stored is kept until it can, and the access token is handed out`()
        async throws
    {
        try await Self.with(lifetime: 0) { world in
            try await world.sandbox.set(#"{"access_token_lifetime": 3600}"#)
            try await world.sandbox.fault(#"{"path": "/token", "hold": true, "times": 1}"#)
            async let first = world.lanyard(["get"], Self.uncached, input: "url=https://tools.example/app\n")
            try await world.sandbox.untilHeld()
            try await world.keyring.lock()
            try await world.sandbox.clearFaults()
            let got = try await first
            #expect(got.value("password") != nil, "\(got)")
            let unlocked = try await world.lanyard(["unlock"], input: KeyringFixture.password + "\n")
            #expect(unlocked.status == 0, "\(unlocked)")
            try await Self.expectSignIn(world)
        }
    }

    @Test func `a new refresh token is stored even if the old one was deleted as invalid meanwhile`() async throws {
        try await Self.with { world in
            let exported = try await world.lanyard(["export"]).output
            let cache = try JSONSerialization.jsonObject(with: Data(exported.utf8)) as? [String: Any]
            let tokens = try JSONSerialization.data(withJSONObject: ["RefreshToken": cache?["RefreshToken"] ?? [:]])
            try await world.sandbox.fault(#"{"path": "/token", "hold": true, "times": 1}"#)
            async let first = world.lanyard(["get"], Self.uncached, input: "url=https://tools.example/app\n")
            try await world.sandbox.untilHeld()
            // As a program does that isn't under the same lock.
            let deleted = try await world.keyring.run(
                Built.storeProbe, ["--group", "dev.lanyard", "delete-exactly"],
                input: String(decoding: tokens, as: UTF8.self))
            #expect(deleted.output == "1\n", "\(deleted)")
            try await world.sandbox.clearFaults()
            #expect(try await first.value("password") != nil)
            try await Self.expectSignIn(world)
        }
    }

    @Test func `a sign-out waits for a renewal, and isn't undone by it`() async throws {
        try await Self.with { world in
            try await world.sandbox.fault(#"{"path": "/token", "hold": true, "times": 1}"#)
            async let first = world.lanyard(["get"], Self.uncached, input: "url=https://tools.example/app\n")
            try await world.sandbox.untilHeld()
            async let logout = world.lanyard(["logout", Self.alice])
            try await Task.sleep(for: .seconds(1))
            try await world.sandbox.clearFaults()
            _ = try await first
            let signedOut = try await logout
            #expect(signedOut.status == 0, "\(signedOut)")
            let left = try await world.lanyard(["export"]).output
            #expect(!left.contains("RefreshToken\": {\n") || !left.contains("\"secret\""), "\(left)")
            #expect(try await world.lanyard(["status", "--accounts"]).output.contains(Self.alice) == false)
        }
    }

    @Test func `a relative LANYARD_CONFIG holds for the renewal, too`() async throws {
        try await Self.with { world in
            try FileManager.default.copyItem(atPath: world.configFile, toPath: world.folder + "/work/here.toml")
            try FileManager.default.removeItem(atPath: world.configFile)
            let relative = ["LANYARD_CONFIG": "here.toml"].merging(Self.uncached) { $1 }
            try await world.sandbox.clearLog()
            let got = try await world.lanyard(["get"], relative, input: "url=https://tools.example/app\n")
            #expect(got.value("password") != nil, "\(got)")
            #expect(try await world.sandbox.authorityRequests().count(grant: "refresh_token") == 1)
        }
    }
}
