import Foundation
import TestSupport
import Testing

/// A token that is due for renewal is returned immediately, and renewed by a separate process.
///
/// Here the authority wants each token renewed immediately (`refresh_in`), so that no test must wait for one to age.
@Suite struct RenewalAheadTests {
    private static let alice = "alice@contoso.example"
    private static let path = "common/hello.git"

    /// Runs the body in a world where Alice has a token that is due, and the next one isn't.
    private static func with(
        ownKernelKeys: Bool = false, _ body: @escaping @Sendable (World, String) async throws -> Void
    ) async throws {
        try await World.with(ownKernelKeys: ownKernelKeys) { world in
            try await world.sandbox.set(#"{"refresh_in": 0}"#)
            let first = try await world.get(path, world.browser(as: alice))
            let token = try #require(first.value("password"), "\(first)")
            try await world.sandbox.set(#"{"refresh_in": null}"#)
            try await world.sandbox.clearLog()
            try await body(world, token)
        }
    }

    /// Waits until another token is returned.
    private static func untilRenewed(
        _ world: World, from token: String, _ get: () async throws -> Ended
    ) async throws -> String {
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            let now = try await get()
            let password = try #require(now.value("password"), "\(now)")
            if password != token { return password }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw NotRenewed()
    }

    /// Returns the processes that wait for the authority.
    private static func renewing() -> [pid_t] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { process in
            let line = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
            return line.suffix(15) == Data("/lanyard\0renew\0".utf8)
        }
    }

    @Test(arguments: [false, true])
    func `nobody waits for it, and it is renewed once`(isRemembered: Bool) async throws {
        try await Self.with(ownKernelKeys: true) { world, token in
            let cache = isRemembered ? [:] : ["LANYARD_ANSWER_CACHE": "0"]
            try await world.sandbox.fault(#"{"path": "/token", "hold": true, "times": 1}"#)
            for _ in 0..<5 {
                // A reader of a file that the renewal had inherited would wait for it.
                let held = try await world.get(Self.path, cache)
                #expect(held.value("password") == token && held.errors.isEmpty, "\(held)")
            }
            try await world.sandbox.untilHeld()
            #expect(try await world.get(Self.path, cache).value("password") == token)
            try await world.sandbox.clearFaults()
            let renewed = try await Self.untilRenewed(world, from: token) { try await world.get(Self.path, cache) }
            for _ in 0..<3 { #expect(try await world.get(Self.path, cache).value("password") == renewed) }
            #expect(try await world.sandbox.authorityRequests().count(grant: "refresh_token") == 1)
        }
    }

    @Test(arguments: [true, false])
    func `an agent has what it hands out renewed, and goes on`(isRemembered: Bool) async throws {
        try await World.with(ownKernelKeys: true) { world in
            try world.configure(forward: "devbox")
            try await world.sandbox.set(#"{"refresh_in": 0}"#)
            let cache = isRemembered ? [:] : ["LANYARD_ANSWER_CACHE": "0"]
            try await world.withAgent(world.browser(as: Self.alice).merging(cache) { $1 }) { far in
                let url = "\(world.sandbox.resource)/\(Self.path)"
                // The first answer is the sign-in's; from the second on, the agent answers itself, or with a new
                // process for each request.
                let token = try #require(try await far.get(url).value("password"))
                try await world.sandbox.set(#"{"refresh_in": null}"#)
                try await world.sandbox.clearLog()
                #expect(try await far.get(url).value("password") == token)
                let renewed = try await Self.untilRenewed(world, from: token) { try await far.get(url) }
                for _ in 0..<3 { #expect(try await far.get(url).value("password") == renewed) }
                #expect(try await world.sandbox.authorityRequests().count(grant: "refresh_token") == 1)
            }
        }
    }

    @Test func `of many at once one has it renewed`() async throws {
        try await Self.with { world, token in
            try await withThrowingTaskGroup(of: Ended.self) { group in
                for _ in 0..<16 { group.addTask { try await world.get(Self.path) } }
                for try await ended in group { #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended)") }
            }
            _ = try await Self.untilRenewed(world, from: token) { try await world.get(Self.path) }
            #expect(try await world.sandbox.authorityRequests().count(grant: "refresh_token") == 1)
        }
    }

    @Test func `the process has a session of its own, and no file of whoever started it`() async throws {
        try await Self.with { world, token in
            try await world.sandbox.fault(#"{"path": "/token", "hold": true, "times": 1}"#)
            // The caller has another pipe open, which the renewal must not inherit.
            let script = "exec 7>&1; printf 'url=%s\\n' \"$1\" | lanyard get"
            let got = try await world.runInside(
                "/bin/sh", ["-c", script, "sh", "\(world.sandbox.resource)/\(Self.path)"])
            #expect(got.value("password") == token, "\(got)")
            try await world.sandbox.untilHeld()
            let processes = Self.renewing().filter { process in
                // The fields after the name: state, parent, group, session, terminal (proc_pid_stat(5)).
                let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
                let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
                return fields.count > 4 && fields[2] == "\(process)" && fields[3] == "\(process)" && fields[4] == "0"
            }
            #expect(!processes.isEmpty)
            try await world.sandbox.clearFaults()
            _ = try await Self.untilRenewed(world, from: token) { try await world.get(Self.path) }
        }
    }

    @Test func `what failed isn't tried again at once, and costs nobody the token`() async throws {
        try await Self.with { world, token in
            try await world.sandbox.fault(#"{"path": "/token", "status": 400, "body": "{}"}"#)
            for _ in 0..<4 {
                let got = try await world.get(Self.path)
                #expect(got.value("password") == token && got.errors.isEmpty, "\(got)")
                try await Task.sleep(for: .milliseconds(300))
            }
            let end = ContinuousClock.now + .seconds(60)
            while try await world.sandbox.authorityRequests().count(grant: "refresh_token") == 0,
                ContinuousClock.now < end
            { try await Task.sleep(for: .milliseconds(50)) }
            #expect(try await world.get(Self.path).value("password") == token)
            #expect(try await world.sandbox.authorityRequests().count(grant: "refresh_token") == 1)
        }
    }

    @Test(arguments: ["CI", "GITHUB_ACTIONS", "TF_BUILD"])
    func `a pipeline's job leaves no process behind, and renews by itself`(variable: String) async throws {
        try await Self.with { world, token in
            let got = try await world.get(Self.path, [variable: "true", "LANYARD_ANSWER_CACHE": "0"])
            #expect(got.status == 0 && got.value("password") != token, "\(got)")
            #expect(try await world.sandbox.authorityRequests().count(grant: "refresh_token") == 1)
        }
    }

    @Test func `who signs out meanwhile stays signed out`() async throws {
        try await Self.with { world, token in
            try await world.sandbox.fault(#"{"path": "/token", "hold": true, "times": 1}"#)
            #expect(try await world.get(Self.path).value("password") == token)
            try await world.sandbox.untilHeld()
            // It waits for the renewal.
            async let logout = world.lanyard(["logout", Self.alice])
            try await Task.sleep(for: .seconds(1))
            try await world.sandbox.clearFaults()
            #expect(try await logout.status == 0)
            let end = ContinuousClock.now + .seconds(60)
            while try await world.sandbox.authorityRequests().count(grant: "refresh_token") == 0,
                ContinuousClock.now < end
            { try await Task.sleep(for: .milliseconds(50)) }
            try await Task.sleep(for: .milliseconds(500))
            #expect(try await world.get(Self.path).status == 2)
            #expect(try await world.lanyard(["status", "--accounts"]).output.isEmpty)
        }
    }

    @Test func `what was exchanged is exchanged anew`() async throws {
        try await World.withRegistry(as: Self.alice) { world in
            // Valid for another ten seconds, whose last quarter comes soon.
            try await world.sandbox.set(#"{"registry_token_lifetime": 310}"#)
            let first = try await world.docker("get")
            try #require(first.status == 0, "\(first)")
            try await world.sandbox.set(#"{"registry_token_lifetime": 3600}"#)
            let before = try await world.exchanges()
            let end = ContinuousClock.now + .seconds(60)
            var last = first
            while last.output == first.output, ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(200))
                last = try await world.docker("get")
                #expect(last.status == 0, "\(last)")
            }
            #expect(last.output != first.output)
            #expect(try await world.exchanges() == before + 1)
        }
    }

    @Test func `nobody else's words start anything`() async throws {
        try await World.with { world in
            for input in ["", "mark=x\n", "x", "mark=x\nhost=a b\n", String(repeating: "a=b\n", count: 20_000)] {
                let ended = try await world.lanyard(["renew"], input: input)
                #expect(ended.status != 0 && ended.output.isEmpty, "\(ended)")
            }
        }
    }
}

/// The old token is still returned.
private struct NotRenewed: Error {}
