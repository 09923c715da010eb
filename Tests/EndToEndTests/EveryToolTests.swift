import Foundation
import TestSupport
import Testing

/// Properties of every tool that lanyard serves, whatever its protocol.
@Suite struct EveryToolTests {
    private static let tools = EveryTool.all

    @Test func `eight at a time get the right secret, and another port, scheme or host gets nothing`() async throws {
        try await World.withEveryTool { world in
            let tokens = try await Self.tokens(world)
            for tool in Self.tools {
                try await Self.expectEight(world, tool, tokens.wide)
                for (url, isNear) in Self.near(tool) {
                    let ended = try await world.ask(tool, url)
                    #expect(tool.secret(in: ended) == (isNear ? tokens.near : tokens.wide), "\(tool) \(url) \(ended)")
                }
                try await Self.expectNothingBeside(world.place(of: tool), world, tool)
            }
            try await Self.expectPasswords(world)
        }
    }

    /// Expects eight right answers; the token is exchanged for keys.
    private static func expectEight(_ world: World, _ tool: EveryTool, _ token: String) async throws {
        let answers = try await withThrowingTaskGroup(of: Ended.self) { group in
            for _ in 0..<8 { group.addTask { try await world.ask(tool) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let secrets = answers.map { tool.secret(in: $0) }
        let expected = tool.description == "aws" ? secrets[0] : token
        #expect(expected != nil && secrets == Array(repeating: expected, count: 8), "\(tool) \(answers)")
    }

    /// Expects no credential for other ports, schemes and hosts.
    private static func expectNothingBeside(_ url: String, _ world: World, _ tool: EveryTool) async throws {
        for url in others(than: url, tool) {
            let ended = try await world.ask(tool, url)
            #expect(tool.isNothing(ended), "\(tool) \(url) \(ended)")
        }
    }

    /// Expects the password of the longest matching path, and none for other ports, schemes or hosts.
    private static func expectPasswords(_ world: World) async throws {
        let root = "https://pass.example:8443"
        for (path, password) in [("team", "wide"), ("team/inner", "near")] {
            let lines = "url=\(root)/\(path)\nusername=u\npassword=\(password)\n"
            #expect(try await world.lanyard(["store"], input: lines).status == 0)
        }
        // git sends no paths by default.
        for tool in tools where tool.takesPasswords && tool.description != "git" {
            for (path, password) in [("team/inner/app", "near"), ("team/innermost", "wide")] {
                let ended = try await world.ask(tool, "\(root)/\(path)")
                #expect(tool.secret(in: ended) == password, "\(tool) \(path) \(ended)")
            }
            let above = try await world.ask(tool, root + "/teams/inner")
            #expect(tool.isNothing(above), "\(tool) \(above)")
            try await expectNothingBeside(root + "/team/inner", world, tool)
        }
    }

    @Test func `a missing sign-in, a dead network and a locked keyring are told in each protocol`() async throws {
        try await World.withEveryTool(signedIn: false) { world in
            for tool in Self.tools { try await Self.expectFailure(world, tool, naming: "lanyard login") }
            #expect(try await world.sandbox.authorityRequests().isEmpty)
            // Tokens expire immediately, so each request needs the authority.
            try await world.sandbox.set(#"{"access_token_lifetime": 0}"#)
            let login = try await world.lanyard(
                ["login", "https://tools.example"], world.browser(as: "alice@contoso.example"))
            try #require(login.status == 0, "\(login)")
            await world.sandbox.stop()
            for tool in Self.tools { try await Self.expectFailure(world, tool, naming: "reach") }
            try await world.keyring.lock()
            for tool in Self.tools { try await Self.expectFailure(world, tool, naming: "locked") }
        }
    }

    private static func expectFailure(_ world: World, _ tool: EveryTool, naming word: String) async throws {
        let ended = try await world.ask(tool)
        #expect(tool.isFailure(ended), "\(tool) \(ended)")
        #expect((ended.output + ended.errors).contains(word), "\(tool) \(ended)")
        // All of the sandbox's tokens start with this.
        #expect(!(ended.output + ended.errors).contains("eyJ"), "\(tool) \(ended)")
    }

    @Test func `tools that can't wait never ask, and who declines one that tries again is asked once`() async throws {
        try await World.withEveryTool(signedIn: false) { world in
            let browser = try world.decliningBrowser(as: "alice@contoso.example")
            let unattended = try Self.script(world, Self.tools.filter { !$0.isAttended })
            func expectAsked(_ count: Int, _ script: String, _ extra: [String: String] = [:]) async throws {
                let ended = try await world.atTerminal(
                    ["/bin/sh", "-c", script], answering: [], browser.merging(extra) { $1 })
                #expect(ended.status == 0 && ended.output.contains("lanyard: error: "), "\(ended)")
                #expect(world.asked == String(repeating: "asked\n", count: count), "\(ended)")
            }
            try await expectAsked(0, unattended)
            // client-go lets this one ask, and runs a failing program five times.
            let info = EveryTool.kubernetes(cluster: "https://tools.example", isInteractive: true)
            let kubectl = "for i in 1 2 3 4 5; do lanyard kubectl && exit 1; done; exit 0"
            try await expectAsked(1, kubectl, ["KUBERNETES_EXEC_INFO": info])
            try await expectAsked(2, kubectl, ["KUBERNETES_EXEC_INFO": info, "XDG_RUNTIME_DIR": ""])
            try await world.keyring.lock()
            try await expectAsked(2, unattended)
        }
    }

    /// Returns the tokens of the two rules.
    private static func tokens(_ world: World) async throws -> (wide: String, near: String) {
        func token(_ url: String) async throws -> String {
            try #require(try await world.lanyard(["token", url]).lines.first)
        }
        let tokens = (
            wide: try await token("https://tools.example"), near: try await token("https://tools.example/team")
        )
        #expect(tokens.wide != tokens.near)
        return tokens
    }

    /// Returns URLs for the two rules, and whether the nearer one applies.
    private static func near(_ tool: EveryTool) -> [(url: String, isNear: Bool)] {
        guard !tool.sendsHost, !tool.asksByName, tool.description != "aws" else { return [] }
        return [("https://tools.example/team/app", true), ("https://tools.example/teams/app", false)]
    }

    /// Returns URLs with the same path on other ports, with another scheme, and on hosts with similar names.
    private static func others(than url: String, _ tool: EveryTool) -> [String] {
        guard !tool.asksByName, let parts = URLComponents(string: url), let host = parts.host else { return [] }
        func changed(_ change: (inout URLComponents) -> Void) -> String? {
            var other = parts
            change(&other)
            return other.string
        }
        var others = [
            changed { $0.port = ($0.port ?? 443) + 1 }, changed { $0.host = host + ".evil.example" },
            changed { $0.host = "x" + host },
        ]
        // terraform supports neither other schemes nor users.
        if !tool.sendsHost {
            others += [changed { $0.scheme = "http" }, changed { ($0.user, $0.host) = (host, "evil.example") }]
        }
        return others.compactMap(\.self)
    }

    /// Returns a shell script that tries each of the tools twice, and succeeds if all fail.
    private static func script(_ world: World, _ tools: [EveryTool]) throws -> String {
        let folder = world.folder + "/input"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return try tools.map { tool in
            let call = tool.call(world.place(of: tool))
            try call.input.write(toFile: "\(folder)/\(tool)", atomically: true, encoding: .utf8)
            let words = call.variables.map { "\($0)='\($1)'" } + [tool.program] + call.arguments.map { "'\($0)'" }
            return "for i in 1 2; do \(words.joined(separator: " ")) <'\(folder)/\(tool)'; done"
        }.joined(separator: "\n") + "\nexit 0\n"
    }
}
