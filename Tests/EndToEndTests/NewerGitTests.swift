import Foundation
import TestSupport
import Testing

/// git 2.46 and later, which support bearer tokens and the helpers' state.
@Suite(.enabled(if: GitProgram.newer != nil, "there is no newer git: script/get git says why"))
struct NewerGitTests {
    private static let alice = "alice@contoso.example"

    /// Runs the body in a world in which Alice is signed in.
    private static func withAlice(_ body: @escaping @Sendable (World, GitProgram) async throws -> Void) async throws {
        let git = try #require(GitProgram.newer)
        try await World.with { world in
            let first = try await world.get("contoso/hello.git", world.browser(as: alice))
            try #require(first.status == 0, "\(first)")
            try await world.sandbox.clearLog()
            try await body(world, git)
        }
    }

    /// Returns the authentication scheme and status of each request for a repository's refs.
    private static func attempts(_ world: World) async throws -> [String] {
        try await world.sandbox.requests().filter { $0.host == "resource" && $0.path.hasSuffix("/info/refs") }
            .map { "\($0.authorization ?? "nothing") \($0.status)" }
    }

    /// Returns a fault that rejects every token, some times or always, without a claims challenge.
    private static func refusal(times: Int?) -> String {
        let header = #""headers": {"WWW-Authenticate": "Bearer error=\"invalid_token\""}"#
        return #"{"path": "info/refs", "status": 401, \#(header)\#(times.map { ", \"times\": \($0)" } ?? "")}"#
    }

    @Test func `a token travels as Bearer and never as a password`() async throws {
        try await Self.withAlice { world, git in
            let url = "\(world.sandbox.resource)/contoso/hello.git"
            #expect(try await world.git(["clone", "-q", url, "hello"], by: git).status == 0)
            let identity = ["-c", "user.name=Alice", "-c", "user.email=\(Self.alice)"]
            _ = try await world.git(
                ["-C", "hello"] + identity + ["commit", "-q", "--allow-empty", "-m", "A change"], by: git)
            let push = try await world.git(["-C", "hello", "push", "-q", "origin", "HEAD:refs/heads/topic"], by: git)
            #expect(push.status == 0 && push.errors.isEmpty, "\(push)")
            let proofs = try await world.sandbox.requests().filter { $0.host == "resource" }.map(\.authorization)
            #expect(Set(proofs) == [nil, "Bearer"], "\(proofs)")
        }
    }

    @Test func `claims that a server misses are got in the same command`() async throws {
        try await Self.withAlice { world, git in
            let url = "\(world.sandbox.resource)/contoso/guarded.git"
            let clone = try await world.git(["clone", "-q", url, "one"], world.browser(as: Self.alice), by: git)
            #expect(clone.status == 0, "\(clone)")
            #expect(try await Self.attempts(world) == ["nothing 401", "Bearer 401", "Bearer 200"])
            #expect(try await world.sandbox.authorityRequests().count(grant: "authorization_code") == 1)

            // The token with the claims is now the stored one.
            try await world.sandbox.clearLog()
            let again = try await world.git(["clone", "-q", url, "two"], by: git)
            #expect(again.status == 0 && again.errors.isEmpty, "\(again)")
            #expect(try await Self.attempts(world) == ["nothing 401", "Bearer 200"])
            #expect(try await world.sandbox.authorityRequests().isEmpty)
        }
    }

    @Test func `claims that nobody is there to prove end the command with the one that would`() async throws {
        try await Self.withAlice { world, git in
            let url = "\(world.sandbox.resource)/contoso/guarded.git"
            let clone = try await world.git(["clone", "-q", url, "one"], ["GIT_TERMINAL_PROMPT": "0"], by: git)
            #expect(clone.status == 128, "\(clone)")
            #expect(clone.errors.contains("lanyard: hint: sign in: lanyard login \(url) --claims"), "\(clone)")
            // The token remains in use if nothing more is required.
            let other = "\(world.sandbox.resource)/contoso/hello.git"
            #expect(try await world.git(["clone", "-q", other, "two"], by: git).status == 0)
        }
    }

    @Test func `a token that the server refuses is renewed in the same command`() async throws {
        try await Self.withAlice { world, git in
            // git's first request without a token, and the next with one.
            try await world.sandbox.fault(Self.refusal(times: 2))
            let url = "\(world.sandbox.resource)/contoso/hello.git"
            let clone = try await world.git(["clone", "-q", url, "hello"], by: git)
            #expect(clone.status == 0, "\(clone)")
            #expect(try await Self.attempts(world) == ["nothing 401", "Bearer 401", "Bearer 200"])
            let grants = try await world.sandbox.authorityRequests().compactMap(\.grantType)
            #expect(grants == ["refresh_token"])
        }
    }

    @Test func `a server that refuses every token is asked with two and no more`() async throws {
        try await Self.withAlice { world, git in
            try await world.sandbox.fault(Self.refusal(times: nil))
            let url = "\(world.sandbox.resource)/contoso/hello.git"
            let clone = try await world.git(["clone", "-q", url, "hello"], by: git)
            #expect(clone.status == 128 && clone.errors.contains("fatal: Authentication failed for"), "\(clone)")
            #expect(try await Self.attempts(world) == ["nothing 401", "Bearer 401", "Bearer 401"])
            try await world.sandbox.clearFaults()
            let again = try await world.git(["clone", "-q", url, "hello"], world.browser(as: Self.alice), by: git)
            #expect(again.status == 0, "\(again)")
        }
    }

    @Test func `helpers beside lanyard are told not to keep the token`() async throws {
        try await Self.withAlice { world, git in
            let seen = world.folder + "/seen"
            _ = try await world.git(["config", "--global", "--add", "credential.helper", "!cat >>\(seen) #"])
            _ = try await world.git(["config", "--global", "--add", "credential.helper", "store"])
            let url = "\(world.sandbox.resource)/contoso/hello.git"
            #expect(try await world.git(["clone", "-q", url, "hello"], by: git).status == 0)
            let lines = try String(contentsOfFile: seen, encoding: .utf8).split(separator: "\n")
            #expect(lines.contains("authtype=Bearer") && lines.contains("ephemeral=1"), "\(lines)")
            #expect(!lines.contains { $0.hasPrefix("password=") }, "\(lines)")
            #expect(!FileManager.default.fileExists(atPath: world.folder + "/home/.git-credentials"))
        }
    }

    @Test func `an answer from before brings the same state, which holds no secret`() async throws {
        try await Self.withAlice { world, _ in
            let capable = "capability[]=authtype\ncapability[]=state\n"
            let first = try await world.get("contoso/hello.git", lines: capable)
            let state = try #require(first.value("state[]"), "\(first)")
            let token = try #require(first.value("credential"))
            #expect(first.value("continue") == "1" && first.value("ephemeral") == "1", "\(first)")
            #expect(state.hasPrefix("lanyard:") && !token.contains(state.dropFirst(8)), "\(state)")
            #expect(try await world.get("contoso/hello.git", lines: capable).output == first.output)
            // A late rejection is about a token that isn't the current one.
            let late = try await world.get("contoso/hello.git", lines: capable + "state[]=lanyard:0123\n")
            #expect(late.value("credential") == token && late.value("continue") == nil, "\(late)")
            #expect(try await world.sandbox.authorityRequests().isEmpty)
            // lanyard ignores another helper's state.
            let other = try await world.get("contoso/hello.git", lines: capable + "state[]=other:1\n")
            #expect(other.output == first.output, "\(other)")
            let refused = try await world.get("contoso/hello.git", lines: capable + "state[]=\(state)\n")
            #expect(refused.status == 0 && refused.value("continue") == nil, "\(refused)")
            #expect(refused.value("credential") != nil && refused.value("credential") != token, "\(refused)")
        }
    }
}
