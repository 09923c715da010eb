import Foundation
import TestSupport
import Testing

/// One kind of authority, with its repository and the users who may read it.
struct AuthorityKind: CustomTestStringConvertible, Sendable {
    let name: String
    let repository: String
    let user: String
    var testDescription: String { name }

    static let all = [
        AuthorityKind(name: "aad-common", repository: "common/hello.git", user: "alice@contoso.example"),
        AuthorityKind(name: "aad-tenant", repository: "contoso/hello.git", user: "bob@contoso.example"),
        AuthorityKind(name: "aad-b2c", repository: "b2c/hello.git", user: "erin@example.net"),
    ]
}

@Suite struct CloneTests {
    @Test(arguments: AuthorityKind.all, GitProgram.all)
    func `a clone signs in once, an expired token is renewed once, and then a fetch is silent`(
        kind: AuthorityKind, program: GitProgram
    ) async throws {
        try await World.with { world in
            let sandbox = world.sandbox
            let url = "\(sandbox.resource)/\(kind.repository)"
            // Shorter than the minimum remaining lifetime, so the token is due for renewal immediately.
            try await sandbox.set(#"{"access_token_lifetime": 200}"#)
            let clone = try await world.git(
                ["clone", "--quiet", url, "hello"], world.browser(as: kind.user), by: program)
            #expect(clone.status == 0, "\(clone)")
            #expect(FileManager.default.fileExists(atPath: world.folder + "/work/hello/README.md"))
            #expect(try await sandbox.authorityRequests().count(grant: "authorization_code") == 1)

            try await sandbox.clearLog()
            try await sandbox.set(#"{"access_token_lifetime": 3600}"#)
            let trace = ["LANYARD_TRACE": "plugin"]
            let renewed = try await world.git(["-C", "hello", "fetch"], trace, by: program)
            #expect(renewed.status == 0, "\(renewed)")
            #expect(renewed.errors.contains("trace: "), "\(renewed)")
            let requests = try await sandbox.authorityRequests()
            #expect(requests.count(grant: "refresh_token") == 1)
            #expect(requests.count(grant: "authorization_code") == 0)

            try await sandbox.clearLog()
            for _ in 0..<2 {
                let silent = try await world.git(["-C", "hello", "fetch"], trace, by: program)
                #expect(silent.status == 0, "\(silent)")
                #expect(silent.errors.isEmpty)
            }
            #expect(try await sandbox.authorityRequests().isEmpty)
        }
    }

    @Test(arguments: AuthorityKind.all)
    func `after revocation a clone says so where nobody is there, and asks where somebody is`(kind: AuthorityKind)
        async throws
    {
        try await World.with { world in
            let sandbox = world.sandbox
            let url = "\(sandbox.resource)/\(kind.repository)"
            try await sandbox.set(#"{"access_token_lifetime": 200}"#)
            #expect(try await world.git(["clone", "-q", url, "one"], world.browser(as: kind.user)).status == 0)
            try await sandbox.revoke()
            let alone = try await world.git(["clone", "-q", url, "two"])
            #expect(alone.status == 128)
            #expect(alone.errors.contains("lanyard: error: interaction required"), "\(alone)")
            #expect(alone.errors.contains("lanyard: hint: sign in: lanyard login \(url)"), "\(alone)")
            try await sandbox.clearLog()
            let asked = try await world.git(["clone", "-q", url, "two"], world.browser(as: kind.user))
            #expect(asked.status == 0, "\(asked)")
            #expect(try await sandbox.authorityRequests().count(grant: "authorization_code") == 1)
            try await sandbox.revoke()
            let again = try await world.git(["clone", "-q", url, "three"], world.browser(as: kind.user))
            #expect(again.status == 0, "\(again)")
            #expect(again.errors.hasPrefix("lanyard: \(kind.user) must sign in again: the authority refuses: AADSTS"))
        }
    }

    @Test(arguments: AuthorityKind.all)
    func `headless Chromium signs in on the real page`(kind: AuthorityKind) async throws {
        try await World.with { world in
            let shots = world.folder + "/shots"
            try FileManager.default.createDirectory(atPath: shots, withIntermediateDirectories: true)
            let clone = try await world.git(
                ["clone", "-q", "\(world.sandbox.resource)/\(kind.repository)", "hello"],
                ["BROWSER": "'\(Built.chromium)' \(kind.user) \(Sandbox.password) \(shots)"])
            #expect(clone.status == 0, "\(clone)")
            #expect(FileManager.default.fileExists(atPath: world.folder + "/work/hello/README.md"))
        }
    }

    @Test(arguments: AuthorityKind.all)
    func `a clone signs in by device code`(kind: AuthorityKind) async throws {
        try await World.with { world in
            try await world.sandbox.set(#"{"device_code_interval": 1}"#)
            let url = "\(world.sandbox.resource)/\(kind.repository)"
            // git gets a terminal, so that there is a user to read the code.
            let helper = ["-c", "credential.helper=", "-c", "credential.helper=lanyard --flow device-code"]
            let terminal = try PseudoTerminal()
            let ended = try await terminal.run(
                "/usr/bin/git", helper + ["clone", "-q", url, "\(world.folder)/work/hello"],
                environment: world.environment
            ) { terminal in
                try await terminal.sees("waiting for the code to be entered")
                let lines = terminal.lines
                let page = try #require(lines.firstIndex { $0.hasPrefix("https://") })
                let code = try #require(lines.firstIndex { $0.hasPrefix("lanyard: and enter this code") })
                let typed = try await run(
                    Built.sandbox,
                    [
                        "sign-in", "--ca", world.sandbox.caFile, "--as", kind.user, "--code", lines[code + 1],
                        lines[page],
                    ], environment: world.environment)
                #expect(typed.status == 0, "\(typed)")
            }
            #expect(ended.status == 0, "\(ended) \(terminal.text)")
            #expect(FileManager.default.fileExists(atPath: world.folder + "/work/hello/README.md"))
        }
    }

    @Test func `two sign-ins at once open one page`() async throws {
        try await World.with { world in
            let url = "\(world.sandbox.resource)/common/hello.git"
            let browser = world.browser(as: "alice@contoso.example")
            async let one = world.git(["clone", "-q", url, "one"], browser)
            async let two = world.git(["clone", "-q", url, "two"], browser)
            let both = try await [one, two]
            #expect(both.allSatisfy { $0.status == 0 }, "\(both)")
            #expect(try await world.sandbox.authorityRequests().count(grant: "authorization_code") == 1)
        }
    }

    @Test func `a push goes through as well`() async throws {
        try await World.with { world in
            let browser = world.browser(as: "alice@contoso.example")
            let url = "\(world.sandbox.resource)/common/hello.git"
            #expect(try await world.git(["clone", "-q", url, "hello"], browser).status == 0)
            let identity = ["-c", "user.name=Alice", "-c", "user.email=alice@contoso.example"]
            try await world.git(["-C", "hello"] + identity + ["commit", "-q", "--allow-empty", "-m", "A change"])
            let push = try await world.git(["-C", "hello", "push", "-q", "origin", "HEAD:refs/heads/topic"])
            #expect(push.status == 0, "\(push)")
        }
    }
}
