import Foundation
import TestSupport
import Testing

/// What an agent hands out, and what it asks its user.
@Suite struct ForwardAccessTests {
    private static let path = "common/hello.git"
    private static let alice = "alice@contoso.example"

    /// Sends a request to a forward's socket, and returns the connection.
    private static func ask(_ world: World, _ lines: String, of forward: String = "devbox") throws -> LocalConnection {
        let connection = try LocalConnection(to: world.agentSocket(forward))
        connection.send("version=1\nverb=get\n\(lines)\n\n")
        return connection
    }

    /// Returns the reply to a request.
    private static func reply(_ world: World, _ lines: String, of forward: String = "devbox") throws -> String {
        let connection = try ask(world, lines, of: forward)
        defer { connection.close() }
        return try #require(connection.rest(within: 60))
    }

    /// The lines of a request for the sandbox's repository.
    private static func place(_ world: World) -> String {
        "protocol=https\nhost=\(world.sandbox.resource.dropFirst("https://".count))\npath=\(path)"
    }

    private static func store(_ password: String, of user: String, for url: String, _ world: World) async throws {
        let stored = try await world.lanyard(["store"], input: "url=\(url)\nusername=\(user)\npassword=\(password)\n")
        try #require(stored.status == 0, "\(stored)")
    }

    private static func wait(_ isDone: () throws -> Bool) async throws {
        for _ in 0..<2400 {
            if try isDone() { return }
            try await Task.sleep(for: .milliseconds(25))
        }
        Issue.record("it took too long")
    }

    /// Installs a notify-send that records each question in `notes`, and answers it with `choice` once that file exists.
    private static func installNotifier(_ world: World, noting text: String = "$*") throws {
        let notify = "\(world.folder)/bin/notify-send"
        try """
        #!/bin/sh
        echo "\(text)" >>'\(world.folder)/notes'
        until [ -e '\(world.folder)/choice' ]; do sleep 0.02; done
        cat '\(world.folder)/choice'
        """.write(toFile: notify, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: notify)
    }

    private static func choose(_ answer: String, _ world: World) throws {
        try "\(answer)\n".write(toFile: "\(world.folder)/choice", atomically: true, encoding: .utf8)
    }

    private static func notes(_ world: World) -> [Substring] {
        ((try? String(contentsOfFile: "\(world.folder)/notes", encoding: .utf8)) ?? "").split(separator: "\n")
    }

    @Test func `a password is handed out from a place that the forward lists, and from no other`() async throws {
        try await World.with { world in
            let host = "https://git.contoso.example"
            try await Self.store("of-secret", of: "alice", for: "\(host)/secret/repo", world)
            try world.configure(forward: "devbox", urls: ["\(host)/team"])
            try world.configure(forward: "whole", urls: [host])
            let place = "protocol=https\nhost=git.contoso.example\n"
            try await world.withAgent { _ in
                try await World.wait(for: world.agentSocket("whole"))
                func ask(_ lines: String, of forward: String = "devbox") throws -> String {
                    try Self.reply(world, place + lines, of: forward)
                }
                for path in ["team", "team/x", "team/../secret/repo"] {
                    for reach in ["", "\nreach=above", "\nreach=below"] {
                        let reply = try ask("path=\(path)\(reach)")
                        #expect(!reply.contains("password="), "\(path) \(reach) \(reply)")
                    }
                }
                #expect(try ask("path=secret/repo\nreach=above").contains("error=not-allowed"))
                #expect(try ask("path=x\nreach=below", of: "whole").contains("error=invalid"))
                #expect(try ask("reach=below", of: "whole").contains("password=of-secret"))
                // What is stored for the host isn't listed either, but what is stored above the request and listed is.
                try await Self.store("of-host", of: "alice", for: host, world)
                #expect(try ask("path=team/x\nreach=above").contains("reply=nothing"))
                #expect(try ask("path=team\nreach=below").contains("error=invalid"))
                #expect(try ask("path=other/x\nreach=above", of: "whole").contains("password=of-host"))
                try await Self.store("of-team", of: "alice", for: "\(host)/team", world)
                #expect(try ask("path=team/x\nreach=above").contains("password=of-team"))
                #expect(try ask("path=team").contains("password=of-team"))
                #expect(try ask("path=team/x").contains("reply=nothing"))
            }
        }
    }

    @Test func `a far side doesn't learn what a rule has as its source, nor why that failed`() async throws {
        try await World.with { world in
            let host = "https://git.contoso.example"
            try world.configure(after: "[[rule]]\nurl = \"\(host)\"\nsource = \"command:false me:s3cret; hidden\"\n")
            try world.configure(forward: "devbox", urls: [host])
            try await world.withAgent { _ in
                let reply = try Self.reply(world, "protocol=https\nhost=git.contoso.example\npath=x")
                #expect(reply.contains("message=no credential could be looked up"), "\(reply)")
                #expect(!reply.contains("s3cret") && !reply.contains("hidden") && !reply.contains("hint"), "\(reply)")
            }
        }
    }

    @Test(arguments: [
        "protocol=https\nhost=git.contoso.example\npath=team/../x", "protocol=http\nhost=git.contoso.example",
    ])
    func `no hint says to list what a forward can't`(_ place: String) async throws {
        try await World.with { world in
            try world.configure(forward: "devbox", urls: ["https://git.contoso.example/team"])
            try await world.withAgent { _ in
                let reply = try Self.reply(world, place)
                #expect(reply.contains("reply=refused") && !reply.contains("forward add"), "\(reply)")
            }
        }
    }

    @Test func `the question names the place and the account of what is handed out`() async throws {
        try await World.with { world in
            try await world.signIn(Self.alice)
            let host = "https://git.contoso.example"
            try await Self.store("of-team", of: "bob", for: "\(host)/team", world)
            try world.configure(forward: "devbox", urls: [host, world.sandbox.resource], "confirm = true")
            try Self.installNotifier(world)
            try Self.choose("allow", world)
            try await world.withAgent(["DISPLAY": ":0"]) { _ in
                let password = "protocol=https\nhost=git.contoso.example\npath=team/x\nreach=above"
                #expect(try Self.reply(world, password).contains("password=of-team"))
                #expect(Self.notes(world).last?.hasSuffix("for \(host)/team as bob?") == true)
                // Nobody is asked about what there isn't.
                #expect(try Self.reply(world, "protocol=https\nhost=git.contoso.example\npath=x").contains("nothing"))
                #expect(Self.notes(world).count == 1)
                let token = Self.place(world)
                let url = "\(world.sandbox.resource)/\(Self.path)"
                #expect(try Self.reply(world, token).contains("ephemeral=1"))
                #expect(Self.notes(world).last?.hasSuffix("for \(url) as \(Self.alice)?") == true)
                // The words of the other side stand at the end, and can't be mistaken for others.
                let posing = "requester=laptop) use your credential for https://pypi.example/? [y/N] \u{202E}\"x"
                #expect(try Self.reply(world, "\(token)\n\(posing)").contains("ephemeral=1"))
                let last = try #require(Self.notes(world).last)
                #expect(
                    last.hasSuffix(
                        "as \(Self.alice)? (it calls itself \"laptopuseyourcredentialforhttpspypi.exampleyNx\")")
                )
                _ = try Self.reply(world, "\(token)\nusername=carol?)x@contoso.example\nunattended=1")
                let carol = try #require(Self.notes(world).last)
                #expect(carol.hasSuffix(" as carol%3F%29x%40contoso.example?"), "\(carol)")
            }
        }
    }

    /// Waits until the agent has this many processes that answer requests.
    private static func waitForWorkers(_ count: Int, _ world: World) async throws {
        let agent = "\(world.folder)/bin/lanyard forward serve"
        try await wait {
            let all = RunningProcess.all
            guard let agent = all.first(where: { $0.text.contains(agent) && !$0.text.contains("--answer-for") }) else {
                return false
            }
            return all.count { $0.text.contains("forward serve --answer-for \(agent.number)") } == count
        }
    }

    @Test func `one no to a question is a no to all that wait, and to what comes soon after`() async throws {
        try await World.with { world in
            try await world.signIn(Self.alice)
            try world.configure(forward: "devbox", "confirm = true")
            try Self.installNotifier(world)
            try await world.withAgent(["DISPLAY": ":0"]) { _ in
                let waiting = try (0..<12).map { _ in try Self.ask(world, Self.place(world)) }
                try await Self.wait { Self.notes(world).count == 1 }
                try await Self.waitForWorkers(8, world)
                try Self.choose("deny", world)
                for connection in waiting {
                    let reply = try #require(connection.rest(within: 60))
                    #expect(reply.contains("error=user"), "\(reply)")
                    connection.close()
                }
                #expect(try Self.reply(world, Self.place(world)).contains("declined a moment ago"))
                #expect(Self.notes(world).count == 1)
            }
        }
    }

    @Test func `who only waits for others' questions hasn't declined, and gets a question of their own`() async throws {
        try await World.with { world in
            try await world.signIn(Self.alice)
            try world.configure(forward: "devbox", "confirm = true")
            try Self.installNotifier(world)
            try await world.withAgent(["DISPLAY": ":0"]) { _ in
                let waiting = try (0..<3).map { _ in try Self.ask(world, Self.place(world)) }
                // The first question isn't answered. The time for the next begins when it is shown.
                try await Self.wait { Self.notes(world).count == 2 }
                try Self.choose("allow", world)
                let replies = try waiting.map { try #require($0.rest(within: 60)) }
                #expect(replies.count { $0.contains("nobody confirmed") } == 1, "\(replies)")
                #expect(replies.count { $0.contains("ephemeral=1") } == 2, "\(replies)")
                #expect(Self.notes(world).count == 3)
                for connection in waiting { connection.close() }
            }
        }
    }

    @Test func `one declined page is the only one of a forward, whatever its requests are for`() async throws {
        try await World.with { world in
            try world.configure(forward: "devbox")
            let browser = "\(world.folder)/bin/slow-browser"
            try """
            #!/bin/sh
            echo asked >>'\(world.folder)/asked'
            until [ -e '\(world.folder)/choice' ]; do sleep 0.02; done
            exec '\(Built.sandbox)' sign-in --ca '\(world.sandbox.caFile)' --as \(Self.alice) --decline "$@"
            """.write(toFile: browser, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: browser)
            try await world.withAgent(["BROWSER": browser]) { _ in
                let waiting = try (0..<8).map {
                    try Self.ask(world, "\(Self.place(world))\nusername=user\($0)@contoso.example")
                }
                try await Self.wait { !world.asked.isEmpty }
                try await Self.waitForWorkers(8, world)
                try Self.choose("", world)
                for connection in waiting {
                    let reply = try #require(connection.rest(within: 120))
                    #expect(reply.contains("error=user"), "\(reply)")
                    connection.close()
                }
                // Until the rest is over, nobody is asked.
                let next = try Self.reply(world, "\(Self.place(world))\nusername=another@contoso.example")
                #expect(next.contains("reply=refused") && !next.contains("error=user"), "\(next)")
                #expect(world.asked == "asked\n")
            }
        }
    }

    @Test(arguments: ["a link", "the system's file"])
    func `what is taken back isn't handed out from memory`(_ kind: String) async throws {
        try await World.with(ownKernelKeys: true) { world in
            try await world.signIn(Self.alice)
            let system = "\(world.folder)/system/lanyard/config.toml"
            let own = "\(world.folder)/dotfiles/config.toml"
            for file in [system, own] {
                try FileManager.default.createDirectory(
                    atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700])
            }
            let script = Built.checkout + "/Tests/TestSupport/Scripts/with-system-file"
            let forward = "[[forward]]\nname = \"devbox\"\nurls = [\"\(world.sandbox.resource)\"]\n"
            let file: String
            if kind == "a link" {
                try world.configure(after: forward)
                try FileManager.default.moveItem(atPath: world.configFile, toPath: own)
                try FileManager.default.createSymbolicLink(atPath: world.configFile, withDestinationPath: own)
                file = own
            } else {
                try forward.write(toFile: system, atomically: true, encoding: .utf8)
                file = system
            }
            let all = try String(contentsOfFile: file, encoding: .utf8)
            let url = "\(world.sandbox.resource)/\(Self.path)"
            @Sendable func remember() async throws {
                let command = (world.kernelKeysCommand ?? []) + [script, system, "\(world.folder)/bin/lanyard", "get"]
                let used = try await run(
                    command[0], Array(command.dropFirst()), input: "url=\(url)\n", environment: world.environment,
                    folder: world.folder + "/work")
                #expect(used.value("password") != nil, "\(used)")
            }
            try await world.withAgent(at: [script, system]) { _ in
                #expect(try Self.reply(world, Self.place(world)).contains("ephemeral=1"))
                // Somebody here uses the token, which is then remembered under the new settings.
                try (all + "confirm = true\n").write(toFile: file, atomically: false, encoding: .utf8)
                try await remember()
                #expect(try Self.reply(world, Self.place(world)).contains("nobody can be asked"))
                try all.replacing(forward, with: forward.replacing("\"]", with: "/elsewhere\"]"))
                    .write(toFile: file, atomically: false, encoding: .utf8)
                try await remember()
                #expect(try Self.reply(world, Self.place(world)).contains("not-allowed"))
                try all.write(toFile: file, atomically: false, encoding: .utf8)
                try await remember()
                #expect(try Self.reply(world, Self.place(world)).contains("ephemeral=1"))
                try all.replacing(forward, with: "").write(toFile: file, atomically: false, encoding: .utf8)
                try await remember()
                #expect((try? Self.reply(world, Self.place(world)))?.contains("ephemeral=1") != true)
            }
        }
    }

    @Test func `what waits when its forward allows less is given up`() async throws {
        try await World.with { world in
            try await world.signIn(Self.alice)
            try world.configure(forward: "devbox", "confirm = true")
            try Self.installNotifier(world)
            try await world.withAgent(["DISPLAY": ":0"]) { _ in
                let waiting = try Self.ask(world, Self.place(world))
                try await Self.wait { Self.notes(world).count == 1 }
                let narrower = world.sandbox.resource + "/contoso"
                let both = ["forward", "add", "devbox", narrower]
                #expect(try await world.lanyard(both).status == 0)
                let removal = ["forward", "remove", "devbox", world.sandbox.resource]
                #expect(try await world.lanyard(removal).status == 0)
                #expect(waiting.rest(within: 60) == "")
                waiting.close()
            }
        }
    }

    @Test(arguments: ["nothing", "a link", "a link to a link"])
    func `a socket appears once settings begin to exist`(_ before: String) async throws {
        try await Home.with { home in
            let files = FileManager.default
            let socket = (home.environment["XDG_RUNTIME_DIR"] ?? "") + "/lanyard/agents/devbox"
            let folder = (home.configFile as NSString).deletingLastPathComponent
            if before != "nothing" {
                try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
                let direct = before == "a link"
                let first = home.folder + (direct ? "/dotfiles/config.toml" : "/links/config.toml")
                try files.createSymbolicLink(atPath: home.configFile, withDestinationPath: first)
                if !direct {
                    try files.createDirectory(atPath: home.folder + "/links", withIntermediateDirectories: true)
                    try files.createSymbolicLink(atPath: first, withDestinationPath: "../dotfiles/config.toml")
                }
            }
            _ = try await with(
                "/usr/bin/setsid", ["\(home.folder)/bin/lanyard", "forward", "serve"], environment: home.environment,
                endedBy: SIGTERM
            ) {
                try await Self.wait {
                    files.fileExists(atPath: (socket as NSString).deletingLastPathComponent + "/.lock")
                }
                #expect(try await home.lanyard(["forward", "add", "devbox", "https://git.example"]).status == 0)
                try await World.wait(for: socket)
                #expect(try await home.lanyard(["forward", "remove", "devbox"]).status == 0)
                try await Self.wait { !files.fileExists(atPath: socket) }
            }
        }
    }

    @Test func `an agent that began without a desktop, or in an earlier one, asks in the one of now`() async throws {
        try await World.with(.secretService) { world in
            try await world.signIn(Self.alice)
            try world.configure(forward: "devbox", "confirm = true")
            try Self.installNotifier(world, noting: "$DISPLAY,$WAYLAND_DISPLAY,$XAUTHORITY")
            try Self.choose("allow", world)
            let earlier = ["DISPLAY": ":3", "XAUTHORITY": "/gone"]
            for (start, word) in [([:], "[]"), (earlier, "[\":3,,/gone\"]")] {
                try? FileManager.default.removeItem(atPath: "\(world.folder)/notes")
                try await world.withAgent(start) { _ in
                    // There is no manager, or it knows no desktop.
                    _ = try Self.reply(world, Self.place(world))
                    #expect("\(Self.notes(world))" == word)
                    let manager = Built.checkout + "/Tests/TestSupport/Scripts/user-manager"
                    let variables = ["PATH=/usr/bin", "DISPLAY=:7", "WAYLAND_DISPLAY=wayland-1"]
                    _ = try await with(
                        manager, variables, environment: world.environment, endedBy: SIGTERM
                    ) {
                        var reply = ""
                        for _ in 0..<200 where Self.notes(world).last != ":7,wayland-1," {
                            reply = try Self.reply(world, Self.place(world))
                            try await Task.sleep(for: .milliseconds(50))
                        }
                        #expect(Self.notes(world).last == ":7,wayland-1," && reply.contains("ephemeral=1"), "\(reply)")
                    }
                }
            }
        }
    }
}
