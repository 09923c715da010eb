import Foundation
import TestSupport
import Testing

/// Paths in URLs: nothing leads a tool to a neighbour's password or token.
@Suite struct PathTests {
    private static let host = "https://feeds.example"
    /// URLs for which a server or a client may take the path of a neighbour for another one.
    private static let strays = [
        "/feeds/one/../two/x", "/feeds/one/%2e%2e/two/x", "/feeds/one/.%2e/two/x", "/feeds/one/%252e%252e/two/x",
        "/feeds/one/..%2ftwo/x", "/feeds/one/..%5Ctwo/x", "/feeds/one/..;/two/x", "/feeds%2fone/x", "/feeds%5Cone/x",
        "/feeds//one/x", "//feeds/one/x", "/feeds/oneself/x", "/feeds/One/x", "/feeds/one%3Fx",
    ]

    /// Returns what each tool prints for a URL; tools send whole URLs.
    private static func answers(_ url: String, _ world: World) async throws -> [String: String] {
        let bin = "\(world.folder)/bin"
        let handshake =
            #"{"RequestId":"lanyard-handshake","Type":"Response","Method":"Handshake","Payload":"#
            + #"{"ResponseCode":"Success","ProtocolVersion":"2.0.0"}}"#
        let sources =
            #"{"RequestId":"1","Type":"Request","Method":"GetAuthenticationCredentials","Payload":"#
            + #"{"Uri":"\#(url)","IsRetry":false,"IsNonInteractive":true,"CanShowDialog":false}}"#
        return [
            "bazel": try await world.runInside(
                "\(bin)/bazel-credential-lanyard", ["get"], input: #"{"uri":"\#(url)"}"#
            ).output,
            "go": try await world.lanyard(["goauth", url]).output,
            "keyring": try await world.runInside("\(bin)/keyring", ["--mode=creds", "get", url]).output,
            "pnpm": try await world.lanyard(["pnpm", url]).output,
            "cargo": try await world.runInside(
                "\(bin)/cargo-credential-lanyard", ["--cargo-plugin"],
                input: #"{"v":1,"kind":"get","operation":"read","registry":{"index-url":"sparse+\#(url)"}}"# + "\n"
            ).output,
            "nuget": try await world.runInside(
                "\(bin)/nuget-plugin-lanyard", ["-Plugin"], input: handshake + "\r\n" + sources + "\r\n"
            ).output,
            "docker": try await world.runInside("\(bin)/docker-credential-lanyard", ["get"], input: url).output,
            "lanyard": try await world.lanyard(["get"], input: "url=\(url)\n").output,
        ]
    }

    /// The words by which a tool's answer shows a secret, as text or in `Basic`.
    private static func shows(_ answer: String, _ secret: String, of user: String = "alice") -> Bool {
        let basic = Data("\(user):\(secret)".utf8).base64EncodedString()
        return answer.contains(secret) || answer.contains(basic)
    }

    private static func withTools(_ body: @escaping @Sendable (World) async throws -> Void) async throws {
        try await World.with { world in
            for program in [
                "bazel-credential-lanyard", "keyring", "cargo-credential-lanyard", "nuget-plugin-lanyard",
                "docker-credential-lanyard",
            ] { try world.link(program) }
            try await body(world)
        }
    }

    @Test func `a password for a path is for nothing that may be elsewhere`() async throws {
        try await Self.withTools { world in
            for (path, secret) in [("feeds/one", "secret-of-one"), ("my team/ü", "secret-of-team")] {
                let lines = "protocol=https\nhost=feeds.example\npath=\(path)\nusername=alice\npassword=\(secret)\n"
                #expect(try await world.lanyard(["store"], input: lines).status == 0)
            }
            for stray in Self.strays {
                for (tool, answer) in try await Self.answers(Self.host + stray, world) {
                    #expect(!Self.shows(answer, "secret-of-one"), "\(tool) \(stray): \(answer)")
                }
            }
            let good = [("/feeds/one/x", "secret-of-one"), ("/my%20team/%C3%BC/x%2Fy", "secret-of-team")]
            for (path, secret) in good {
                // `get` compares the whole path, like git.
                for (tool, answer) in try await Self.answers(Self.host + path, world) where tool != "lanyard" {
                    #expect(Self.shows(answer, secret), "\(tool) \(path): \(answer)")
                }
            }
            let git = try await world.git(
                ["-c", "credential.useHttpPath=true", "credential", "fill"], ["GIT_TERMINAL_PROMPT": "0"],
                input: "url=\(Self.host)/my%20team/%C3%BC\n")
            #expect(git.value("password") == "secret-of-team", "\(git)")
        }
    }

    @Test func `a rule's token for a path is for nothing that may be elsewhere`() async throws {
        try await Self.withTools { world in
            let login = try await world.lanyard(
                ["login", "\(world.sandbox.resource)/common/hello.git"], world.browser(as: "alice@contoso.example"))
            #expect(login.status == 0, "\(login)")
            try world.configure(rule: "\(Self.host)/feeds/one", at: "common")
            let token = try #require(
                try await world.lanyard(["token", "\(Self.host)/feeds/one"]).lines.first)
            for (tool, answer) in try await Self.answers("\(Self.host)/feeds/one/x", world) where tool != "docker" {
                #expect(
                    answer.contains(token) || Self.shows(answer, token, of: "alice@contoso.example"),
                    "\(tool): \(answer)")
            }
            for stray in Self.strays {
                for (tool, answer) in try await Self.answers(Self.host + stray, world) {
                    #expect(
                        !answer.contains(token) && !Self.shows(answer, token, of: "alice@contoso.example"),
                        "\(tool) \(stray): \(answer)")
                }
            }
        }
    }

    @Test func `an agent gives nothing for a path that may be elsewhere`() async throws {
        try await World.with { world in
            let lines = "protocol=https\nhost=feeds.example\npath=feeds/one\nusername=alice\npassword=secret-of-one\n"
            #expect(try await world.lanyard(["store"], input: lines).status == 0)
            try world.configure(forward: "devbox", urls: [Self.host])
            try await world.withAgent { far in
                let good = try await far.lanyard(["goauth", "\(Self.host)/feeds/one/x"])
                #expect(Self.shows(good.output, "secret-of-one"), "\(good)")
                for stray in Self.strays {
                    let ended = try await far.lanyard(["goauth", Self.host + stray])
                    #expect(!Self.shows(ended.output, "secret-of-one"), "\(stray): \(ended)")
                }
            }
        }
    }

    @Test func `Azure DevOps' paths have no case, for rules and for passwords`() async throws {
        try await Self.withTools { world in
            try world.configure(rule: "https://dev.azure.com/Contoso", at: "common")
            try world.configure(rule: "https://git.example/Contoso", at: "common")
            func explained(_ url: String) async throws -> String {
                try await world.lanyard(["explain", url]).output
            }
            let known = try await explained("https://dev.azure.com/contoso/p/_git/r")
            #expect(
                known.contains("https://dev.azure.com/Contoso") && !known.contains("upper and lower case"), "\(known)")
            let other = try await explained("https://git.example/contoso/p")
            #expect(other.contains("its path differs in upper and lower case"), "\(other)")

            for (host, isFound) in [("fabrikam.visualstudio.com", true), ("git.example", false)] {
                let place = "protocol=https\nhost=\(host)\nusername=alice\n"
                let stored = try await world.lanyard(["store"], input: "\(place)path=Team/_git/R\npassword=first\n")
                #expect(stored.status == 0, "\(stored)")
                let got = try await world.lanyard(["get"], input: "\(place)path=team/_git/r\n")
                #expect(got.value("password") == (isFound ? "first" : nil), "\(host): \(got)")
                let above = try await world.lanyard(["goauth", "https://\(host)/TEAM/_git/r/x"])
                #expect(Self.shows(above.output, "first") == isFound, "\(host): \(above)")
                // One place has one password.
                try await world.lanyard(["store"], input: "\(place)path=team/_git/r\npassword=second\n")
                let again = try await world.lanyard(["get"], input: "\(place)path=Team/_git/R\n")
                #expect(again.value("password") == (isFound ? "second" : "first"), "\(host): \(again)")
                try await world.lanyard(["erase"], input: "\(place)path=TEAM/_git/R\n")
                let erased = try await world.lanyard(["get"], input: "\(place)path=Team/_git/R\n")
                #expect(erased.value("password") == (isFound ? nil : "first"), "\(host): \(erased)")
            }
        }
    }

    @Test func `a carriage return in a password reaches no program that ends lines there`() async throws {
        try await Self.withTools { world in
            let place = "protocol=https\nhost=returns.example\nusername=alice\n"
            let stored = try await world.lanyard(["store"], input: "\(place)password=p\rhost=evil.example\n")
            #expect(stored.status == 1 && stored.errors.contains("carriage return"), "\(stored)")
            #expect(try await world.lanyard(["get"], input: place).hasNoCredential)
            // docker's JSON can have it.
            let docker = "\(world.folder)/bin/docker-credential-lanyard"
            let login = #"{"ServerURL":"https://returns.example","Username":"alice","Secret":"p\rhost=evil.example"}"#
            #expect(try await world.runInside(docker, ["store"], input: login).status == 0)
            let kept = try await world.runInside(docker, ["get"], input: "https://returns.example")
            #expect(kept.output.contains(#""Secret":"p\rhost=evil.example""#), "\(kept)")
            let got = try await world.lanyard(["get"], input: place)
            #expect(got.status == 1 && got.hasNoCredential, "\(got)")
        }
    }
}
