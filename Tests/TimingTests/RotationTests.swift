import Foundation
import TestSupport
import Testing

/// Refresh tokens that several processes redeem, replace and lose concurrently.
@Suite struct RotationTests {
    private static let alice = "alice@contoso.example"
    /// Four rules of one account: three authorities, two resources.
    private static let paths = ["common/hello.git", "contoso/hello.git", "fabrikam/hello.git", "v1.0/me"]

    /// Runs the body in a world where alice is signed in, all her tokens are due, and refresh tokens are single-use.
    private static func with(_ body: @Sendable (World) async throws -> Void) async throws {
        try await World.with { world in
            try await world.sandbox.set(#"{"access_token_lifetime": 200}"#)
            for path in paths {
                let first = try await world.get(path, world.browser(as: alice))
                try #require(first.status == 0, "\(first)")
            }
            try await world.sandbox.set(#"{"access_token_lifetime": 3600, "single_use_refresh_tokens": 1}"#)
            try await world.sandbox.clearLog()
            try await body(world)
        }
    }

    /// Runs sixty-four concurrent processes, sixteen for each path.
    private static func stampede(_ world: World) async throws -> [Ended] {
        try await withThrowingTaskGroup(of: Ended.self) { group in
            for number in 0..<64 { group.addTask { try await world.get(paths[number % paths.count]) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Whether the sign-in can still be renewed.
    private static func renews(_ world: World) async throws -> Bool {
        let claims = #"{"access_token":{"nbf":null}}"#
        return try await world.get(paths[0], lines: "claims=\(claims)\n").status == 0
    }

    @Test func `sixty-four over four URLs of one account spend no refresh token twice`() async throws {
        try await Self.with { world in
            let answers = try await Self.stampede(world)
            #expect(answers.allSatisfy { $0.status == 0 && $0.value("username") == Self.alice }, "\(answers)")
            let requests = try await world.sandbox.authorityRequests()
            #expect((1...4).contains(requests.count(grant: "refresh_token")), "\(requests)")
            #expect(try await Self.renews(world))
        }
    }

    @Test func `sixty-four at a host like GitHub, where each renewal ends a token, make one request`() async throws {
        try await World.with { world in
            let forge = world.sandbox.forge
            let added = try await world.lanyard([
                "rule", "add", forge.url, "--authority", forge.url, "--kind", "github", "--client-id", forge.clientID,
            ])
            #expect(added.status == 0, "\(added)")
            let stored = try await world.lanyard(["rule", "secret", forge.clientID], input: forge.clientSecret)
            #expect(stored.status == 0, "\(stored)")
            func get(_ environment: [String: String] = [:]) async throws -> Ended {
                try await world.lanyard(["get"], environment, input: "url=\(forge.url)/contoso/hello.git\n")
            }
            try await world.sandbox.set(#"{"access_token_lifetime": 5}"#)
            let first = try await get(world.browser(as: Self.alice))
            try #require(first.status == 0, "\(first)")
            try await Task.sleep(for: .seconds(6))
            try await world.sandbox.set(#"{"access_token_lifetime": 3600}"#)
            try await world.sandbox.clearLog()
            let answers = try await withThrowingTaskGroup(of: Ended.self) { group in
                for _ in 0..<64 { group.addTask { try await get() } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(answers.compactMap { $0.value("password") }).count == 1, "\(answers)")
            #expect(answers.allSatisfy { $0.status == 0 && $0.value("password") != first.value("password") })
            let requests = try await world.sandbox.requests()
            #expect(requests.map(\.grantType) == ["refresh_token"], "\(requests)")
            let status = try await world.lanyard(["status", "--accounts"])
            #expect(status.output.contains("yes"), "it can be renewed again: \(status)")
        }
    }

    /// cron, `su` and `docker exec` lack the desktop's variables, but use the same keyring.
    @Test func `sixty-four in environments with and without a runtime folder redeem one refresh token, once`()
        async throws
    {
        try await Self.with { world in
            let bus = world.environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""
            var bare = world.environment
            bare["XDG_RUNTIME_DIR"] = nil
            let environments = [
                world.environment, bare, bare.merging(["DBUS_SESSION_BUS_ADDRESS": bus + ",guid=0123"]) { $1 },
                world.environment.merging(["XDG_RUNTIME_DIR": world.folder]) { $1 },
            ]
            let url = "\(world.sandbox.resource)/\(Self.paths[0])"
            let answers = try await withThrowingTaskGroup(of: Ended.self) { group in
                for number in 0..<64 {
                    group.addTask {
                        try await world.runInside(
                            "\(world.folder)/bin/lanyard", ["get"], input: "url=\(url)\n",
                            environment: environments[number % environments.count])
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.allSatisfy { $0.value("password") != nil }, "\(answers)")
            #expect(Set(answers.compactMap { $0.value("password") }).count == 1)
            #expect(try await world.sandbox.authorityRequests().count(grant: "refresh_token") == 1)
            #expect(try await Self.renews(world))
        }
    }

    @Test func `a sign-in beside them loses nothing either`() async throws {
        try await Self.with { world in
            async let login = world.lanyard(
                ["login", "\(world.sandbox.resource)/\(Self.paths[0])"], world.browser(as: Self.alice))
            let answers = try await Self.stampede(world)
            let signedIn = try await login
            #expect(signedIn.status == 0, "\(signedIn)")
            #expect(answers.allSatisfy { $0.status == 0 && $0.value("username") == Self.alice }, "\(answers)")
            let requests = try await world.sandbox.authorityRequests()
            #expect(requests.count(grant: "refresh_token") <= 4, "\(requests)")
            #expect(try await Self.renews(world))
        }
    }

    @Test func `two members of a family spend no refresh token twice`() async throws {
        try await World.with { world in
            let members = ["a1", "b2"].map { "fa311100-0000-4000-8000-0000000000\($0)" }
            for member in members {
                let first = try await world.get(at: "common", client: member, world.browser(as: Self.alice))
                try #require(first.status == 0, "\(first)")
            }
            try await world.sandbox.set(#"{"single_use_refresh_tokens": 1}"#)
            let claims = "claims={\"access_token\":{\"nbf\":null}}\n"
            let answers = try await withThrowingTaskGroup(of: Ended.self) { group in
                for number in 0..<12 {
                    group.addTask { try await world.get(at: "common", client: members[number % 2], lines: claims) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.allSatisfy { $0.status == 0 }, "\(answers)")
        }
    }

    @Test func `a renewal that is refused does not delete what a sign-in stored meanwhile`() async throws {
        try await World.with { world in
            let url = "\(world.sandbox.resource)/\(Self.paths[0])"
            let browser = world.browser(as: Self.alice)
            // Due immediately: each get needs the refresh token.
            try await world.sandbox.set(#"{"access_token_lifetime": 200}"#)
            #expect(try await world.lanyard(["login", url], browser).status == 0)
            for round in 0..<4 {
                try await world.sandbox.revoke(#"{"username": "\#(Self.alice)"}"#)
                try await world.sandbox.fault(#"{"path": "/token", "delay": 0.3, "times": 1}"#)
                async let refused = world.get(Self.paths[0])
                // In most rounds, the other process starts first: its request is delayed.
                try await Task.sleep(for: .milliseconds(60 * round))
                let signedIn = try await world.lanyard(["login", url], browser)
                #expect(signedIn.status == 0, "round \(round): \(signedIn)")
                _ = try await refused
                let after = try await world.get(Self.paths[0])
                #expect(after.status == 0 && after.value("password") != nil, "round \(round): \(after)")
            }
        }
    }
}
