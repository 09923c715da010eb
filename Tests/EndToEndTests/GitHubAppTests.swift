import Foundation
import TestSupport
import Testing

/// GitHub Apps as identities, at the host that behaves like GitHub Enterprise Server.
@Suite struct GitHubAppTests {
    /// Runs the body in a world with a rule for the host, and the key that GitHub would have given.
    private static func withApp(
        _ scopes: String = "", _ body: @escaping @Sendable (World, SandboxDescription.Host) async throws -> Void
    ) async throws {
        try await withIdentity { world, forge, _ in
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

    /// Runs the body in a world with the identity alone, and what adding it said.
    private static func withIdentity(
        _ body: @escaping @Sendable (World, SandboxDescription.Host, Ended) async throws -> Void
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
            try await body(world, forge, added)
        }
    }

    @Test func `each command names the next one, from the identity to a clone`() async throws {
        try await Self.withIdentity { world, forge, added in
            let configure = ["configure", "git", forge.url, "--identity", "bot"]
            #expect(added.errors.hasSuffix("next: lanyard configure git \(forge.url) --identity bot\n"), "\(added)")
            let early = try await world.lanyard(["identity", "check", "bot"])
            #expect(
                early.status == 0 && early.output.contains("sandbox GitHub App")
                    && early.errors.contains("check bot \(forge.url)/OWNER/REPOSITORY"), "\(early)")
            let configured = try await world.lanyard(configure)
            #expect(configured.status == 0 && configured.errors.contains("useHttpPath = true"), "\(configured)")
            #expect(
                configured.errors.hasSuffix("lanyard identity check bot \(forge.url)/OWNER/REPOSITORY\n"),
                "\(configured)")
            let checked = try await world.lanyard(["identity", "check", "bot", "\(forge.url)/contoso/hello"])
            #expect(checked.status == 0, "\(checked)")
            let cloned = try await world.git(["clone", "--quiet", "\(forge.url)/contoso/hello.git", "hello"])
            #expect(cloned.status == 0, "\(cloned)")
            let again = try await world.lanyard(configure)
            #expect(again.status == 0 && again.errors.contains("nothing has to be changed"), "\(again)")
        }
    }

    @Test func `doctor and explain miss the path that git doesn't send, and ask for no secret`() async throws {
        try await Self.withIdentity { world, forge, _ in
            let added = try await world.lanyard(["rule", "add", forge.url, "--identity", "bot"])
            #expect(added.status == 0 && added.errors.contains("git does not"), "\(added)")
            let helped = try await world.git(["config", "--global", "credential.helper", "lanyard"])
            #expect(helped.status == 0, "\(helped)")
            let doctor = try await world.lanyard(["doctor"])
            #expect(doctor.output.contains("git does not send the path (useHttpPath is off)"), "\(doctor)")
            let host = try await world.lanyard(["explain", forge.url])
            #expect(host.output.contains("names none") && !host.output.contains("secret"), "\(host)")
            #expect(host.output.contains("lanyard configure git \(forge.url)"), "\(host)")
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
            let listed = try await world.lanyard(["cache", "list"])
            #expect(listed.output.contains("for \(forge.url)/contoso/hello\n"), "\(listed)")
            // A token may not have reached all of GitHub's servers yet: one that is refused is replaced.
            let refused = token.lines.first ?? ""
            let erased = try await world.lanyard(
                ["erase"],
                input: "url=\(forge.url)/contoso/hello.git\nusername=x-access-token\npassword=\(refused)\n")
            let next = try await world.lanyard(["token", "\(forge.url)/contoso/hello.git"])
            #expect(
                erased.status == 0 && next.lines.first.map { $0.hasPrefix("ghs_") && $0 != refused } == true, "\(next)")
            // The owner's installation is known by now, and has the repository under its former name, too.
            try await world.sandbox.clearLog()
            let checked = try await world.lanyard(["identity", "check", "bot", "\(forge.url)/contoso/hello"])
            #expect(checked.status == 0, "\(checked)")
            let renamed = try await world.lanyard(["token", "\(forge.url)/contoso/renamed.git"])
            #expect(renamed.lines.first?.hasPrefix("ghs_") == true, "\(renamed)")
            let told = try await world.sandbox.requests().filter { $0.path.hasPrefix("/api/") }
            #expect(told.map(\.status) == [201, 422, 301, 200, 201], "\(told)")
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
