import Foundation
import TestSupport
import Testing

/// GitHub Apps as identities, at the host that behaves like GitHub Enterprise Server.
@Suite struct GitHubAppTests {
    /// Runs the body in a world with a rule for the host, and the key that GitHub would have given.
    private static func withApp(
        _ scopes: String = "", _ body: @escaping @Sendable (World, SandboxDescription.Host) async throws -> Void
    ) async throws {
        try await World.with { world in
            let forge = world.sandbox.forge
            let key = world.folder + "/app.private-key.pem"
            let both = try String(contentsOfFile: world.sandbox.application.certificate, encoding: .utf8)
            let end = try #require(both.range(of: "-----BEGIN CERTIFICATE"))
            try String(both[..<end.lowerBound]).write(toFile: key, atomically: true, encoding: .utf8)
            let added = try await world.lanyard([
                "identity", "add", "bot", "--authority", forge.url, "--kind", "github", "--client-id",
                try #require(forge.appClientID), "--certificate", key, "--trust-authority",
            ])
            #expect(added.status == 0, "\(added)")
            try world.configure(
                after: """
                    [[rule]]
                    url = "\(forge.url)"
                    identity = "bot"
                    \(scopes.replacing("FORGE", with: forge.url))

                    """)
            let configured = try await world.lanyard(["configure", "git", "--yes"])
            #expect(configured.status == 0, "\(configured)")
            try await body(world, forge)
        }
    }

    @Test func `git gets a token for the one repository, by one installation`() async throws {
        try await Self.withApp { world, forge in
            try await world.sandbox.clearLog()
            let cloned = try await world.git(["clone", "--quiet", "\(forge.url)/contoso/hello.git", "hello"])
            #expect(cloned.status == 0, "\(cloned)")
            let work = "\(world.folder)/work/hello"
            try "more".write(toFile: work + "/more", atomically: true, encoding: .utf8)
            for arguments in [["add", "more"], World.commit + ["More"], ["push", "--quiet"]] {
                let ended = try await world.git(["-C", work] + arguments)
                #expect(ended.status == 0, "\(arguments) \(ended)")
            }
            let asked = try await world.sandbox.requests().filter { $0.path.hasPrefix("/api/") }
            #expect(
                asked.map(\.path) == [
                    "/api/v3/repos/contoso/hello/installation", "/api/v3/app/installations/1/access_tokens",
                ], "\(asked)")
            #expect(asked.map(\.status) == [200, 201] && asked.allSatisfy { $0.authorization == "Bearer" }, "\(asked)")
            let token = try await world.lanyard(["token", "\(forge.url)/contoso/hello.git"])
            #expect(token.lines.first?.hasPrefix("ghs_") == true, "\(token)")
            // It opens nothing else, and another repository gets no token of this one.
            let other = try await world.lanyard(["get"], input: "url=\(forge.url)/contoso/secret.git\n")
            #expect(other.hasNoCredential && other.errors.contains("is not installed for contoso/secret"), "\(other)")
            let elsewhere = try await world.lanyard(["get"], input: "url=\(forge.url)/fabrikam/hello.git\n")
            #expect(elsewhere.hasNoCredential && elsewhere.errors.contains("have an owner of fabrikam"), "\(elsewhere)")
        }
    }

    @Test func `it may do no more than the rule says`() async throws {
        try await Self.withApp(#"scopes = ["contents:read"]"#) { world, forge in
            let cloned = try await world.git(["clone", "--quiet", "\(forge.url)/contoso/hello.git", "hello"])
            #expect(cloned.status == 0, "\(cloned)")
            let work = "\(world.folder)/work/hello"
            let pushed = try await world.git(["-C", work, "push", "--quiet", "origin", "HEAD:refs/heads/other"])
            #expect(pushed.status != 0 && pushed.errors.contains("403"), "\(pushed)")
        }
    }

    @Test func `a request without a repository, a permission that it lacks and another key are refused in words`()
        async throws
    {
        try await Self.withApp(#"scopes = ["administration:write"]"#) { world, forge in
            let lacks = try await world.lanyard(["get"], input: "url=\(forge.url)/contoso/hello.git\n")
            #expect(lacks.hasNoCredential && lacks.errors.contains("permissions that it has"), "\(lacks)")
        }
        try await Self.withApp { world, forge in
            let host = try await world.lanyard(["get"], input: "url=\(forge.url)\n")
            #expect(host.hasNoCredential && host.errors.contains("useHttpPath"), "\(host)")
            let key = world.folder + "/app.private-key.pem"
            let made = try await run(
                "openssl", ["genrsa", "-traditional", "-out", key, "2048"], environment: world.environment)
            #expect(made.status == 0, "\(made)")
            let wrong = try await world.lanyard(["get"], input: "url=\(forge.url)/contoso/hello.git\n")
            #expect(
                wrong.hasNoCredential && wrong.errors.contains("that the key is one of the app's"), "\(wrong)")
        }
        try await Self.withApp("resource-indicators = [\"FORGE/contoso\"]") { world, forge in
            let all = try await world.lanyard(["token", forge.url])
            #expect(all.lines.first?.hasPrefix("ghs_") == true, "\(all)")
        }
    }
}
