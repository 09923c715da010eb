import Foundation
import TestSupport
import Testing

/// `lanyard forward serve`, and a far side with nothing but its socket.
@Suite struct AgentTests {
    private static let path = "common/hello.git"
    private static let alice = "alice@contoso.example"

    /// Runs the body in a world with a forward for all of the sandbox's resources, and its agent with a browser in
    /// which Alice signs in.
    private static func withAgent(
        _ further: String = "", _ body: @Sendable (World, FarSide) async throws -> Void
    ) async throws {
        try await World.with { world in
            try world.configure(forward: "devbox", further)
            try await world.withAgent(world.browser(as: alice)) { far in try await body(world, far) }
        }
    }

    @Test func `a clone signs in on the near side, and nothing of it stays on the far side`() async throws {
        try await Self.withAgent { world, far in
            let url = "\(world.sandbox.resource)/\(Self.path)"
            let clone = try await far.run("/usr/bin/git", ["clone", "--quiet", url, "hello"])
            #expect(clone.status == 0, "\(clone)")
            #expect(FileManager.default.fileExists(atPath: far.folder + "/work/hello/README.md"))
            #expect(try await world.sandbox.authorityRequests().count(grant: "authorization_code") == 1)
            // From now on, no user is needed.
            try await world.sandbox.clearLog()
            let fetch = try await far.run("/usr/bin/git", ["-C", "hello", "fetch"])
            #expect(fetch.status == 0 && fetch.errors.isEmpty, "\(fetch)")
            #expect(try await world.sandbox.authorityRequests().isEmpty)
            let got = try await far.get(url)
            let token = try #require(got.value("password"), "\(got)")
            #expect(got.value("username") == Self.alice)
            #expect(far.files(holding: token).isEmpty)
            let secrets = try await Self.refreshTokens(world)
            #expect(!secrets.isEmpty)
            for secret in secrets { #expect(!got.output.contains(secret) && far.files(holding: secret).isEmpty) }
            #expect(try await far.lanyard(["token", url]).lines == [token])
            let run = try await far.lanyard(["exec", url, "--", "printenv", "LANYARD_ACCESS_TOKEN"])
            #expect(run.lines == [token], "\(run)")
        }
    }

    @Test func `no memory of the far side has a refresh token`() async throws {
        try await Self.withAgent { world, far in
            let url = "\(world.sandbox.resource)/\(Self.path)"
            let token = try #require(try await far.get(url).value("password"))
            let secrets = try await Self.refreshTokens(world)
            #expect(!secrets.isEmpty)
            // A tool's plugin keeps running after it has answered.
            let plugin = far.folder + "/bin/nuget-plugin-lanyard"
            try FileManager.default.createSymbolicLink(atPath: plugin, withDestinationPath: Built.lanyard)
            let request =
                #"{"RequestId":"1","Type":"Request","Method":"GetAuthenticationCredentials","#
                + #""Payload":{"Uri":"\#(url)","IsRetry":false}}"#
            // Only root may look into it.
            let search = Namespaces.asRoot + [Built.checkout + "/Tests/TestSupport/Scripts/search-memory"]
            let searched = try await far.run(
                "/usr/bin/unshare", search + [request, plugin, "-Plugin"],
                input: ([token] + secrets).joined(separator: "\n"))
            // The token shows that the search works.
            #expect(searched.lines == ["true"] + secrets.map { _ in "false" }, "\(searched)")
        }
    }

    /// Returns the near side's refresh tokens, which must not leave it.
    static func refreshTokens(_ world: World) async throws -> [String] {
        let exported = try await world.lanyard(["export"])
        let cache = try JSONSerialization.jsonObject(with: Data(exported.output.utf8)) as? [String: Any]
        let records = cache?["RefreshToken"] as? [String: [String: Any]] ?? [:]
        return records.values.compactMap { $0["secret"] as? String }
    }

    @Test func `docker's and pip's helpers ask there too, with a page of the near side's browser`() async throws {
        try await Self.withAgent { world, far in
            let url = "\(world.sandbox.resource)/\(Self.path)"
            let keyring = try await far.run("\(far.folder)/bin/keyring", ["get", url, "--mode", "creds"])
            #expect(keyring.status == 0 && keyring.lines.count == 2, "\(keyring)")
            let token = try #require(keyring.lines.last)
            let docker = try await far.run("\(far.folder)/bin/docker-credential-lanyard", ["get"], input: url)
            #expect(docker.output.contains(token), "\(docker)")
            for verb in ["store", "erase"] {
                let input = verb == "store" ? #"{"ServerURL":"\#(url)","Username":"u","Secret":"s3cr3t"}"# : url
                let done = try await far.run("\(far.folder)/bin/docker-credential-lanyard", [verb], input: input)
                #expect(done.status == (verb == "store" ? 1 : 0), "\(verb) \(done)")
                #expect(done.output.contains("neither stores nor removes") == (verb == "store"), "\(done)")
            }
            // docker stores the credential that it received, too.
            let same = #"{"ServerURL":"\#(url)","Username":"\#(Self.alice)","Secret":"\#(token)"}"#
            let kept = try await far.run("\(far.folder)/bin/docker-credential-lanyard", ["store"], input: same)
            #expect(kept.status == 0 && kept.output.isEmpty && kept.errors.isEmpty, "\(kept)")
            for words in [["set", url, "u"], ["del", url, "u"]] {
                let ended = try await far.run("\(far.folder)/bin/keyring", words, input: "s3cr3t\n")
                #expect(ended.status == 1 && ended.errors.contains("neither stores nor removes"), "\(ended)")
            }
            let git = try await far.lanyard(["store"], input: "url=\(url)\nusername=u\npassword=s3cr3t\n")
            #expect(git.status == 0 && git.output.isEmpty && git.errors.isEmpty, "\(git)")
            let list = try await far.run("\(far.folder)/bin/docker-credential-lanyard", ["list"])
            #expect(list.output == "{}\n")
            #expect(far.files(holding: "s3cr3t").isEmpty)
        }
    }

    @Test(.enabled(if: Clients.folder != nil, "there is no pip: script/get tools says why"))
    func `pip itself installs from an index that the near side signs in to`() async throws {
        try await World.with { world in
            try await PackageIndex.with(password: "nobody knows it", in: world) { index in
                try world.configure(rule: index.root, at: "contoso.example")
                try world.configure(forward: "devbox", urls: [index.root])
                try await world.withAgent(world.browser(as: Self.alice)) { far in
                    let words = [
                        "download", "--no-input", "--no-deps", "--no-cache-dir", "--disable-pip-version-check",
                        "--keyring-provider", "subprocess", "--dest", "packages", "--index-url", index.url, "hello",
                    ]
                    let login = try await world.lanyard(["login", index.url], world.browser(as: Self.alice))
                    try #require(login.status == 0, "\(login)")
                    // The index doesn't accept a token yet.
                    #expect(try await far.run(Clients.program("pip"), words).status != 0)
                    let token = try #require(try await world.lanyard(["token", index.url]).lines.first)
                    try index.accept(token)
                    let pip = try await far.run(Clients.program("pip"), words)
                    #expect(pip.status == 0, "\(pip)")
                    #expect(!pip.output.contains(token) && !pip.errors.contains(token))
                    #expect(far.files(holding: token).isEmpty)
                    let packages = far.folder + "/work/packages"
                    #expect(try FileManager.default.contentsOfDirectory(atPath: packages).count == 1)
                }
            }
        }
    }

    @Test func `what isn't listed is refused with the command that lists it, and tools go on`() async throws {
        try await World.with { world in
            try world.configure(forward: "devbox", urls: ["\(world.sandbox.resource)/common"])
            let other = "\(world.sandbox.resource)/contoso/hello.git"
            for url in [other, "https://elsewhere.example"] {
                let lines = "url=\(url)\nusername=u\npassword=s3cr3t\n"
                #expect(try await world.lanyard(["store"], input: lines).status == 0)
            }
            try await world.withAgent(world.browser(as: Self.alice)) { far in
                for url in [other, "https://elsewhere.example/x"] {
                    let got = try await far.get(url)
                    #expect(got.hasNoCredential, "\(got)")
                    #expect(got.errors.contains("the forward devbox does not list \(url)"), "\(got)")
                    #expect(got.errors.contains("lanyard forward add devbox \(url)"), "\(got)")
                }
                let docker = try await far.run(
                    "\(far.folder)/bin/docker-credential-lanyard", ["get"], input: "https://elsewhere.example")
                #expect(docker.output == "credentials not found in native keychain\n", "\(docker)")
                // Only the list counts; the other lines of the request don't matter.
                for line in ["authority=https://login.example", "scope[]=x", "account=bob", "claims={}"] {
                    let got = try await far.get("\(world.sandbox.resource)/\(Self.path)", lines: line + "\n")
                    #expect(got.status == 1 && got.hasNoCredential, "\(line) \(got)")
                }
            }
        }
    }

    @Test func `a stored password crosses, and the refresh token that it came with doesn't`() async throws {
        try await World.with { world in
            let host = "https://passwords.example"
            try world.configure(forward: "devbox", urls: [host])
            let lines = "url=\(host)\nusername=u\npassword=p4ss\noauth_refresh_token=r3fresh\n"
            #expect(try await world.lanyard(["store"], input: lines).status == 0)
            #expect(try await world.lanyard(["get"], input: "url=\(host)\n").value("oauth_refresh_token") == "r3fresh")
            try await world.withAgent { far in
                let got = try await far.get(host, lines: "capability[]=authtype\n")
                #expect(got.value("password") == "p4ss" && !got.output.contains("r3fresh"), "\(got)")
                let raw = try LocalConnection(to: world.agentSocket())
                raw.send("version=1\nverb=get\nprotocol=https\nhost=passwords.example\n\n")
                let reply = try #require(raw.rest(within: 30))
                #expect(reply.contains("p4ss") && !reply.contains("r3fresh"))
            }
        }
    }

    @Test func `a token that the server refused is dropped and replaced where the agent runs`() async throws {
        try await Self.withAgent { world, far in
            let url = "\(world.sandbox.resource)/\(Self.path)"
            let first = try #require(try await far.get(url).value("password"))
            // The agent ignores another user's rejected password.
            let lines = "url=\(url)\nusername=u\npassword="
            #expect(try await far.lanyard(["erase"], input: "\(lines)wrong\n").status == 0)
            #expect(try await far.get(url).value("password") == first)
            let erased = try await far.lanyard(["erase"], input: "\(lines)\(first)\n")
            // On a busy machine, it says that it waits for the agent.
            #expect(erased.status == 0 && !erased.errors.contains("error"), "\(erased)")
            let second = try #require(try await far.get(url).value("password"))
            #expect(second != first)
            // The token was renewed without asking the user.
            #expect(try await world.sandbox.authorityRequests().count(grant: "authorization_code") == 1)
            let third = try await far.get(
                url, lines: "capability[]=authtype\ncapability[]=state\nstate[]=\(try await state(far, url))\n")
            let credential = try #require(third.value("credential"), "\(third)")
            #expect(credential != second)
        }
    }

    /// Returns the state that git sends back after the server rejected the token.
    private func state(_ far: FarSide, _ url: String) async throws -> String {
        let got = try await far.get(url, lines: "capability[]=authtype\ncapability[]=state\n")
        return try #require(got.value("state[]"), "\(got)")
    }

    @Test func `without an agent there is an error, and nothing of this machine's answers`() async throws {
        try await World.with { world in
            try world.configure(forward: "devbox")
            let far = try await world.farSide()
            let url = "\(world.sandbox.resource)/\(Self.path)"
            let got = try await far.get(url)
            #expect(got.status == 1 && got.hasNoCredential, "\(got)")
            #expect(got.errors.contains("cannot be reached") && got.errors.contains("hint: "), "\(got)")
            // The same with a line of its configuration, regardless of this machine's rules and keyring.
            try world.configure(before: "agent = \"\(world.agentSocket())\"")
            let here = try await world.get(Self.path, world.browser(as: Self.alice))
            #expect(here.status == 1 && here.errors.contains("cannot be reached"), "\(here)")
            let login = try await world.lanyard(["login", url])
            #expect(login.status == 1 && login.errors.contains("on the agent's machine"), "\(login)")
            let agent = try await world.lanyard(["forward", "serve"])
            #expect(agent.status == 1 && agent.errors.contains("uses an agent itself"), "\(agent)")
        }
    }

    @Test func `status, explain and doctor know who is asked`() async throws {
        try await Self.withAgent { world, far in
            let socket = world.agentSocket()
            let url = "\(world.sandbox.resource)/\(Self.path)"
            let status = try await far.lanyard(["status"])
            #expect(status.status == 0 && status.output.contains("agent at ") && status.errors.isEmpty, "\(status)")
            #expect(try await far.lanyard(["status", "--json"]).output.contains(#""agent" : "\#(socket)""#))
            let explained = try await far.lanyard(["explain", url])
            #expect(explained.output.contains("lanyard would ask the agent at "), "\(explained)")
            #expect(!explained.output.contains("rule add"), "\(explained)")
            let doctor = try await far.lanyard(["doctor", "--all"])
            #expect(doctor.output.contains("which answers") && !doctor.output.contains("warn"), "\(doctor)")
            #expect(try await world.lanyard(["doctor", "--all"]).output.contains("serves devbox"))
            let report = try await world.lanyard(["doctor", "--report"])
            #expect(report.output.contains("serves 1 forward") && !report.output.contains("devbox"), "\(report)")
            #expect(try await world.lanyard(["status", "--json"]).output.contains(#""agent" : null"#))
        }
        try await World.with { world in
            try world.configure(forward: "devbox")
            let near = try await world.lanyard(["doctor"])
            #expect(near.output.contains("no agent runs for devbox"), "\(near)")
            let far = try await world.farSide()
            let doctor = try await far.lanyard(["doctor"])
            #expect(doctor.status == 1 && doctor.output.contains("cannot be reached"), "\(doctor)")
        }
    }

    @Test func `there is one agent, and the next takes over what a killed one left`() async throws {
        try await World.with { world in
            try world.configure(forward: "devbox")
            let url = "\(world.sandbox.resource)/\(Self.path)"
            try await world.withAgent(world.browser(as: Self.alice), endedBy: SIGKILL) { far in
                let second = try await world.lanyard(["forward", "serve"])
                #expect(second.status == 1 && second.errors.contains("an agent is already running"), "\(second)")
                #expect(try await far.get(url).value("password") != nil)
            }
            #expect(FileManager.default.fileExists(atPath: world.agentSocket()))
            try await world.withAgent { far in
                let again = try await far.get(url)
                #expect(again.value("password") != nil, "\(again)")
            }
            // This time, the agent was asked to end.
            #expect(!FileManager.default.fileExists(atPath: world.agentSocket()))
        }
    }

    @Test func `who ends a request ends the sign-in, and so does the agent's end`() async throws {
        try await World.with { world in
            try world.configure(forward: "devbox")
            let started = "\(world.folder)/started"
            let url = "\(world.sandbox.resource)/\(Self.path)"
            try await world.withAgent(Self.slowBrowser(of: world), endedBy: SIGKILL) { far in
                // Killed after three seconds.
                let got = try await far.run(
                    "/usr/bin/timeout", ["-s", "KILL", "5", "\(far.folder)/bin/lanyard", "get"], input: "url=\(url)\n")
                #expect(got.status != 0 && got.hasNoCredential, "\(got)")
                let opened = try String(contentsOfFile: started, encoding: .utf8)
                try await Self.expectClosed(port(in: opened))
                // The next request opens its page, and keeps it until the agent dies.
                async let next = far.get(url)
                try await Self.until { (try? String(contentsOfFile: started, encoding: .utf8)) != opened }
                let pages = try String(contentsOfFile: started, encoding: .utf8).split(separator: "\n")
                try FileManager.default.removeItem(atPath: started)
                try String(pages.last ?? "").write(toFile: started, atomically: true, encoding: .utf8)
                let agent = try #require(world.agentProcess())
                kill(agent, SIGKILL)
                let ended = try await next
                #expect(ended.status == 1 && ended.errors.contains("closed the connection"), "\(ended)")
            }
            try await Self.expectClosed(port(in: try String(contentsOfFile: started, encoding: .utf8)))
        }
    }

    /// The variables with a browser in which nobody signs in; it notes the pages that it opens in the file `started`.
    private static func slowBrowser(of world: World) throws -> [String: String] {
        let browser = "\(world.folder)/bin/slow-browser"
        try "#!/bin/sh\necho \"$1\" >>'\(world.folder)/started'\nexec sleep 600\n"
            .write(toFile: browser, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: browser)
        return ["BROWSER": browser]
    }

    private func port(in page: String) throws -> Int {
        let text = try #require(page.removingPercentEncoding)
        let match = try #require(text.firstMatch(of: /redirect_uri=http:\/\/(?:localhost|127\.0\.0\.1):(\d+)/))
        return try #require(Int(match.1))
    }

    /// Waits until nothing listens on a loopback port.
    private static func expectClosed(_ port: Int) async throws {
        try await until { (try? TCPPort.isOpen(port)) == false }
    }

    private static func until(_ isDone: () throws -> Bool) async throws {
        for _ in 0..<1200 {
            if try isDone() { return }
            try await Task.sleep(for: .milliseconds(25))
        }
        Issue.record("it took too long")
    }

    @Test func `far sides that flood, stall or lie are closed, and cost nobody else anything`() async throws {
        try await World.with { world in
            try world.configure(forward: "devbox")
            try world.configure(forward: "other")
            let url = "\(world.sandbox.resource)/\(Self.path)"
            try await world.withAgent(world.browser(as: Self.alice)) { far in
                #expect(try await far.get(url).value("password") != nil)
                // More connections than the agent accepts, all of them silent.
                let silent = (0..<40).compactMap { _ in try? LocalConnection(to: world.agentSocket()) }
                let other = try await far.get(url, ["LANYARD_AGENT": world.agentSocket("other")])
                #expect(other.value("password") != nil, "\(other)")
                for connection in silent.prefix(32) { #expect(connection.rest(within: 60) == "") }
                for connection in silent { connection.close() }
                let place = "version=1\nverb=get\nprotocol=https\nhost=x.example\n"
                let endless = place + "path=" + String(repeating: "a", count: 100_000)
                for text in [endless, "garbage\n\n", "\0\0\0\n\n", place + "\n" + place + "\n", "\n"] {
                    let connection = try LocalConnection(to: world.agentSocket())
                    connection.send(text)
                    let reply = connection.rest(within: 60)
                    #expect(
                        reply == "" || reply?.contains("reply=refused") == true, "\(text.prefix(40)) \(reply ?? "-")")
                    connection.close()
                }
                for verb in ["store", "erase", "list", "capability"] {
                    let connection = try LocalConnection(to: world.agentSocket())
                    connection.send(place.replacing("=get", with: "=\(verb)") + "username=u\npassword=p\n\n")
                    #expect(connection.rest(within: 60)?.contains("error=invalid") == true, "\(verb)")
                    connection.close()
                }
                #expect(try await far.get(url).value("password") != nil)
            }
        }
    }

    @Test func `forwards are listed, changed and taken back while the agent runs`() async throws {
        try await World.with { world in
            let url = "\(world.sandbox.resource)/\(Self.path)"
            let added = try await world.lanyard(["forward", "add", "devbox", world.sandbox.resource + "/contoso"])
            #expect(added.status == 0, "\(added)")
            try await world.withAgent(world.browser(as: Self.alice)) { far in
                #expect(try await far.get(url).hasNoCredential)
                let more = try await world.lanyard(["forward", "add", "devbox", url])
                #expect(more.status == 0, "\(more)")
                try await Self.until { try world.configText().contains("common/hello") }
                var got = try await far.get(url)
                for _ in 0..<100 where got.hasNoCredential {
                    try await Task.sleep(for: .milliseconds(50))
                    got = try await far.get(url)
                }
                #expect(got.value("password") != nil, "\(got)")
                let list = try await world.lanyard(["forward", "list"])
                #expect(list.output == "devbox\n    \(world.sandbox.resource)/contoso\n    \(url)\n", "\(list)")
                #expect(try await world.lanyard(["forward", "remove", "devbox", url]).status == 0)
                #expect(try await world.lanyard(["forward", "remove", "devbox", url]).status == 1)
                #expect(try await world.lanyard(["forward", "remove", "devbox"]).status == 0)
                for _ in 0..<200 where World.isServed(world.agentSocket()) {
                    try await Task.sleep(for: .milliseconds(50))
                }
                #expect(!World.isServed(world.agentSocket()))
            }
        }
    }

    /// Runs the agent while the body does, which may change the system's settings.
    private static func withSystemFile(
        _ extra: @Sendable (World) throws -> [String: String] = { _ in [:] },
        _ body: @Sendable (World, _ systemFile: String, _ agent: pid_t) async throws -> Void
    ) async throws {
        try await World.with { world in
            try world.configure(forward: "devbox")
            let file = "\(world.folder)/system/lanyard/config.toml"
            try FileManager.default.createDirectory(
                atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try forward("other", of: world).write(toFile: file, atomically: true, encoding: .utf8)
            let script = Built.checkout + "/Tests/TestSupport/Scripts/with-system-file"
            try await world.withAgent(try extra(world), at: [script, file]) { _ in
                try await World.wait(for: world.agentSocket("other"))
                try await body(world, file, try #require(world.agentProcess()))
            }
        }
    }

    private static func forward(_ name: String, of world: World) -> String {
        "[[forward]]\nname = \"\(name)\"\nurls = [\"\(world.sandbox.resource)\"]\n"
    }

    @Test func `SIGHUP has it serve what the system's settings came to list`() async throws {
        try await Self.withSystemFile { world, file, agent in
            let both = Self.forward("other", of: world) + Self.forward("another", of: world)
            try both.write(toFile: file, atomically: true, encoding: .utf8)
            kill(agent, SIGHUP)
            try await Self.until { FileManager.default.fileExists(atPath: world.agentSocket("another")) }
            for name in ["devbox", "other", "another"] { try await World.wait(for: world.agentSocket(name)) }
        }
    }

    @Test func `SIGHUP has it serve what the user's settings list when it gets it`() async throws {
        try await Self.withSystemFile { world, _, agent in
            let file = try #require(FileHandle(forWritingAtPath: world.configFile))
            defer { try? file.close() }
            try file.seekToEnd()
            // It isn't told of the change before the file is closed.
            try file.write(contentsOf: Data(("\n" + Self.forward("another", of: world)).utf8))
            kill(agent, SIGHUP)
            for name in ["another", "devbox", "other"] { try await World.wait(for: world.agentSocket(name)) }
        }
    }

    @Test func `a forward that SIGHUP removes ends its own connections only`() async throws {
        try await Self.withSystemFile(Self.slowBrowser) { world, file, agent in
            let place = "version=1\nverb=get\nprotocol=https\n"
            let removed = try LocalConnection(to: world.agentSocket("other"))
            removed.send(place)
            let kept = try LocalConnection(to: world.agentSocket())
            let host = world.sandbox.resource.dropFirst("https://".count)
            kept.send(place + "host=\(host)\npath=\(Self.path)\n\n")
            try await Self.until { FileManager.default.fileExists(atPath: "\(world.folder)/started") }
            try "".write(toFile: file, atomically: true, encoding: .utf8)
            // It is told while the other connection has more than it reads at once.
            kill(agent, SIGSTOP)
            removed.send("path=" + String(repeating: "a", count: 60_000))
            kill(agent, SIGHUP)
            kill(agent, SIGCONT)
            #expect(removed.rest(within: 60) == "")
            #expect(kept.rest(within: 3) == nil)
            #expect(World.isServed(world.agentSocket()) && !World.isServed(world.agentSocket("other")))
            kept.close()
            removed.close()
        }
    }

    /// What has the first forward confirmed, and another of this name, too.
    private static func confirmed(besides name: String, _ world: World) -> String {
        "confirm = true\n[[forward]]\nname = \"\(name)\"\nurls = [\"\(world.sandbox.resource)\"]\nconfirm = true"
    }

    @Test func `each use is confirmed by a notification, and without an answer there is nothing`() async throws {
        try await World.with { world in
            try world.configure(forward: "devbox", Self.confirmed(besides: "other", world))
            let url = "\(world.sandbox.resource)/\(Self.path)"
            #expect(try await world.get(Self.path, world.browser(as: Self.alice)).value("password") != nil)
            // Answers as the file says, and records the question.
            let notify = "\(world.folder)/bin/notify-send"
            try "#!/bin/sh\necho \"$*\" >>'\(world.folder)/notes'\ncat '\(world.folder)/choice'\n"
                .write(toFile: notify, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: notify)
            @Sendable func choose(_ text: String) throws {
                try text.write(toFile: "\(world.folder)/choice", atomically: true, encoding: .utf8)
            }
            try await world.withAgent(["DISPLAY": ":0"]) { far in
                for _ in 0..<2 {
                    try choose("allow\n")
                    let allowed = try await far.get(url)
                    #expect(allowed.value("password") != nil, "\(allowed)")
                }
                // After a denial, the user isn't asked again immediately.
                for (choice, words) in [("deny\n", "was declined"), ("allow\n", "declined a moment ago")] {
                    try choose(choice)
                    let refused = try await far.get(url)
                    #expect(refused.value("password") == nil && refused.errors.contains(words), "\(refused)")
                }
                try choose("")
                let refused = try await world.farSide("other").get(url)
                #expect(refused.value("password") == nil && refused.errors.contains("nobody confirmed"), "\(refused)")
            }
            let notes = try String(contentsOfFile: "\(world.folder)/notes", encoding: .utf8).split(separator: "\n")
            #expect(notes.count == 4)
            for note in notes { #expect(note.contains(url), "\(note)") }
            #expect(notes.count { $0.contains("devbox") } == 3)
            // There is no way to ask the user: neither a terminal nor a screen.
            try await world.withAgent { _ in
                let refused = try await world.farSide("other").get(url)
                #expect(
                    refused.value("password") == nil && refused.errors.contains("nobody can be asked"), "\(refused)")
            }
        }
    }

    @Test func `a question that nobody waits for any more is withdrawn`() async throws {
        try await World.with { world in
            try world.configure(forward: "devbox", "confirm = true")
            #expect(try await world.get(Self.path, world.browser(as: Self.alice)).value("password") != nil)
            // The agent ends once it has said that no answer is wanted.
            let terminal = [Built.checkout + "/Tests/TestSupport/Scripts/at-terminal", "ignore the", "^C", "--"]
            try await world.withAgent(at: terminal) { far in
                let url = "\(world.sandbox.resource)/\(Self.path)"
                let killed = try await far.run("/usr/bin/timeout", ["3", "\(far.folder)/bin/lanyard", "token", url])
                #expect(killed.status == 124, "\(killed)")
                let socket = world.agentSocket("devbox")
                for _ in 0..<600 where FileManager.default.fileExists(atPath: socket) {
                    try await Task.sleep(for: .milliseconds(50))
                }
                #expect(!FileManager.default.fileExists(atPath: socket))
            }
        }
    }

    @Test func `what was typed before the question is no answer to it`() async throws {
        try await World.with { world in
            try world.configure(forward: "devbox", Self.confirmed(besides: "other", world))
            #expect(try await world.get(Self.path, world.browser(as: Self.alice)).value("password") != nil)
            let url = "\(world.sandbox.resource)/\(Self.path)"
            let typing = ["other may ask for", "yes", "[y/N]", "no", "[y/N]", "yes"]
            let terminal = [Built.checkout + "/Tests/TestSupport/Scripts/at-terminal"] + typing + ["--"]
            try await world.withAgent(at: terminal) { far in
                let other = try await world.farSide("other")
                try await World.wait(for: world.agentSocket("other"))
                try await Task.sleep(for: .seconds(3))
                let declined = try await far.get(url)
                #expect(declined.value("password") == nil && declined.errors.contains("was declined"), "\(declined)")
                let allowed = try await other.get(url)
                #expect(allowed.value("password") != nil, "\(allowed)")
            }
        }
    }

    @Test(arguments: [false, true])
    func `a terminal that is closed ends it, unless nohup started it`(startedByNohup: Bool) async throws {
        try await World.with { world in
            try world.configure(forward: "devbox")
            let socket = world.agentSocket("devbox")
            // In the world's folder, where nohup leaves the agent's output.
            let starter = startedByNohup ? ["/usr/bin/env", "--chdir=\(world.folder)", "nohup"] : []
            let terminal = [Built.checkout + "/Tests/TestSupport/Scripts/at-terminal", "--"] + starter
            try await world.withAgent(at: terminal) { _ in #expect(World.isServed(socket)) }
            guard !startedByNohup else {
                try await Task.sleep(for: .seconds(1))
                #expect(World.isServed(socket))
                return Self.end(world)
            }
            for _ in 0..<600 where FileManager.default.fileExists(atPath: socket) {
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(!FileManager.default.fileExists(atPath: socket))
        }
    }

    /// Kills what still runs of a world's agent.
    private static func end(_ world: World) {
        for process in RunningProcess.all where process.text.contains("\(world.folder)/bin/lanyard forward serve") {
            kill(process.number, SIGTERM)
        }
    }

    @Test func `programs for Azure need no settings of the far side's`() async throws {
        try await Self.withAgent { world, far in
            for program in ["azure-cli", "azd"] {
                let ended = try await far.lanyard(["exec", "--as", program, "--", "true"])
                #expect(ended.status == 0 && ended.errors.isEmpty, "\(program) \(ended)")
            }
            let scoped = try await far.lanyard(["token", "--scope", "https://a.example/user.read"])
            #expect(scoped.status != 0 && scoped.errors.contains("is for URLs"), "\(scoped)")
            let listed = try await far.lanyard(["token", "--scope", "https://a.example//.default"])
            #expect(listed.errors.contains("lanyard forward add devbox https://a.example/"), "\(listed)")
            for words in [["status", "--accounts"], ["logout", "--all"], ["use", "bob"]] {
                let ended = try await far.lanyard(words)
                #expect(ended.status != 0 && ended.errors.contains("are on the agent's machine"), "\(words) \(ended)")
            }
        }
    }

    @Test func `a request without a path is told that git has to send one`() async throws {
        try await World.with { world in
            try world.configure(forward: "devbox", urls: ["\(world.sandbox.resource)/common"])
            try await world.withAgent { far in
                let got = try await far.get("\(world.sandbox.resource)/")
                #expect(got.hasNoCredential && got.errors.contains("credential.useHttpPath"), "\(got)")
                #expect(!got.errors.contains("forward add") && !got.errors.contains("error"), "\(got)")
                let configured = try await far.lanyard(["configure", "git", world.sandbox.resource, "--yes"])
                #expect(configured.status == 0 && !configured.errors.contains("rule add"), "\(configured)")
            }
        }
    }

    @Test func `an answer that is remembered comes from the agent itself`() async throws {
        try await World.with(ownKernelKeys: true) { world in
            try world.configure(forward: "devbox")
            #expect(try await world.get(Self.path, world.browser(as: Self.alice)).value("password") != nil)
            let near = try await world.get(Self.path)
            try await world.withAgent { far in
                let url = "\(world.sandbox.resource)/\(Self.path)"
                let first = try await far.get(url)
                #expect(first.value("password") == near.value("password"), "\(first)")
                guard CachedAnswerTests.hasKernelKeyring else { return }
                // The keyring hangs, but that doesn't matter.
                try await world.keyring.suspend()
                let second = try await far.get(url)
                #expect(second.output == first.output, "\(second)")
                try await world.keyring.resume()
            }
        }
    }
}

extension AgentTests {
    @Suite(.enabled(if: geteuid() == 0, "only root can be another user")) struct RootTests {
        @Test func `another user can't use the socket, even if they can reach it`() async throws {
            try await AgentTests.withAgent { world, far in
                let url = "\(world.sandbox.resource)/\(AgentTests.path)"
                #expect(try await far.get(url).value("password") != nil)
                let socket = world.agentSocket()
                let attributes = try FileManager.default.attributesOfItem(atPath: socket)
                #expect(attributes[.posixPermissions] as? Int == 0o600)
                let folder = (socket as NSString).deletingLastPathComponent
                #expect(try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? Int == 0o700)
                let asNobody = [
                    "--reuid", "65534", "--regid", "65534", "--clear-groups", "/usr/bin/python3", "-c", Self.ask,
                ]
                let variables = ["SOCKET": socket, "HOST": String(world.sandbox.resource.dropFirst("https://".count))]
                let kept = try await far.run("/usr/bin/setpriv", asNobody, variables)
                #expect(kept.output == "PermissionError\n", "\(kept)")
                // Even if the permissions of all folders are opened, the agent checks who connects.
                var path = socket
                while path.hasPrefix(world.folder) {
                    let mode = path == socket ? 0o777 : 0o755
                    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
                    path = (path as NSString).deletingLastPathComponent
                }
                let reached = try await far.run("/usr/bin/setpriv", asNobody, variables)
                #expect(reached.output == "''\n", "\(reached)")
                #expect(try await far.get(url).value("password") != nil)
            }
        }

        /// Asks an agent for a credential, and prints its answer.
        private static let ask = """
            import os, socket
            s = socket.socket(socket.AF_UNIX)
            try:
                s.connect(os.environ["SOCKET"])
                s.sendall(f"version=1\\nverb=get\\nprotocol=https\\nhost={os.environ['HOST']}\\n\\n".encode())
                print(repr(s.makefile().read()))
            except (ConnectionResetError, BrokenPipeError):
                print("''")
            except Exception as e:
                print(type(e).__name__)
            """
    }
}
