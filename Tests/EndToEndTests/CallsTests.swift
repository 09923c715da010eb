import Foundation
import TestSupport
import Testing

/// The number of calls on the bus, which determines how long an answer from the keyring takes.
@Suite struct CallsTests {
    private static let path = "contoso/hello.git"
    private static let password = "protocol=https\nhost=example.com\nusername=somebody\n"
    private static let uncached = ["LANYARD_ANSWER_CACHE": "0"]

    @Test func `an answer given before asks nothing of the bus`() async throws {
        try await World.with(.secretService, ownKernelKeys: true) { world in
            try await signIn(world)
            // Without keys of its own, another lanyard process of this user may invalidate the answer.
            for _ in 0..<12 where try await calls(of: world, { try await world.get(Self.path) }) == [] { return }
            Issue.record("no answer was given again")
        }
    }

    @Test func `a stored token or password takes three or four calls to the keyring`() async throws {
        try await World.with(.secretService) { world in
            try await signIn(world)
            let token = try await calls(of: world) { try await world.get(Self.path, Self.uncached) }
            #expect(
                token.filter(\.isToKeyring).map(\.member).sorted()
                    == ["GetSecrets", "OpenSession", "SearchItems"])
            // In addition, the bus receives a hello and a query for the provider.
            #expect(token.count <= 5, "\(token)")

            try await world.lanyard(["store"], input: Self.password + "password=secret\n")
            let password = try await calls(of: world) { try await world.lanyard(["get"], input: Self.password) }
            #expect(
                password.filter(\.isToKeyring).map(\.member).sorted()
                    == ["Get", "GetSecrets", "OpenSession", "SearchItems"])
            #expect(password.count <= 6, "\(password)")
        }
    }

    @Test func `a look in vain opens no session the next time, and finds what is stored by then`() async throws {
        try await World.with(.secretService) { world in
            try await world.lanyard(["get"], input: Self.password)
            let vain = try await calls(of: world) { try await world.lanyard(["get"], input: Self.password) }
            #expect(vain.filter(\.isToKeyring).map(\.member).sorted() == ["Get", "SearchItems"], "\(vain)")
            #expect(vain.count <= 4, "\(vain)")
            // Another program's password isn't a secret of lanyard's own.
            let attributes = ["xdg:schema", "org.git.Password", "user", "somebody", "protocol", "https"]
            let stored = try await world.keyring.run(
                "secret-tool", ["store", "--label=x"] + attributes + ["server", "example.com"], input: "secret")
            #expect(stored.status == 0)
            for _ in 0..<2 {
                let found = try await world.lanyard(["get"], input: Self.password)
                #expect(found.value("password") == "secret", "\(found)")
            }
            let known = try await calls(of: world) { try await world.lanyard(["get"], input: Self.password) }
            #expect(known.count { $0.member == "OpenSession" } == 1, "\(known)")
        }
    }

    @Test func `a password that is stored just so is only read`() async throws {
        try await World.with(.secretService) { world in
            let request = Self.password + "password=secret\n"
            try await world.lanyard(["store"], input: request)
            let again = try await calls(of: world) { try await world.lanyard(["store"], input: request) }
            #expect(
                again.filter(\.isToKeyring).map(\.member).sorted()
                    == ["Get", "GetSecrets", "OpenSession", "SearchItems"], "\(again)")
            // A password that is newer than another user's, or that differs, is stored.
            let other = Self.password.replacing("somebody", with: "other") + "password=other\n"
            try await world.lanyard(["store"], input: other)
            for lines in [request, request + "password_expiry_utc=9999999999\n", Self.password + "password=new\n"] {
                let changed = try await calls(of: world) { try await world.lanyard(["store"], input: lines) }
                #expect(changed.contains { $0.member == "SetSecret" || $0.member == "CreateItem" }, "\(changed)")
            }
            #expect(try await world.lanyard(["get"], input: Self.password).value("password") == "new")
        }
    }

    @Test func `a new password takes two searches, and so does one in another's place`() async throws {
        try await World.with(.secretService) { world in
            // What is there, and whether it is a token.
            for password in ["secret", "other"] {
                let calls = try await calls(of: world) {
                    try await world.lanyard(["store"], input: Self.password + "password=\(password)\n")
                }
                #expect(calls.count { $0.member == "SearchItems" } == 2, "\(calls)")
            }
            #expect(try await world.lanyard(["get"], input: Self.password).value("password") == "other")
        }
    }

    @Test func `a renewal searches the keyring twice, and once for each token that it replaces`() async throws {
        try await World.with(.secretService) { world in
            try await world.sandbox.set(#"{"access_token_lifetime": 200}"#)
            #expect(try await world.get(Self.path, world.browser(as: "alice@contoso.example")).status == 0)
            try await world.sandbox.set(#"{"access_token_lifetime": 3600}"#)
            let calls = try await calls(of: world) { try await world.get(Self.path) }
            // Once by the caller, and once with the refresh token's lock, because another process may have renewed.
            // On a busy machine, the caller looks again if its turn took a moment to come. After the authority's answer,
            // the results are only read again, because a sign-out takes no lock.
            // The item that each new token takes the place of is searched for, too, because it keeps its other attributes.
            let written = calls.count { $0.member == "SetSecret" }
            #expect(written == 2 && !calls.contains { $0.member == "CreateItem" }, "\(calls)")
            let searches = calls.count { $0.member == "SearchItems" } - written
            #expect((2...3).contains(searches), "\(calls)")
            #expect(calls.count { $0.member == "GetSecrets" } == searches + 1, "\(calls)")
            // A session belongs to a connection. The caller has one, and so has the process that redeems the token, which
            // must be able to store the result without the caller.
            #expect(calls.count { $0.member == "OpenSession" } == 2, "\(calls)")
        }
    }

    @Test(arguments: [false, true])
    func `a renewal at an issuer of its own finds the client's secret by the same searches`(
        hasSecret: Bool
    ) async throws {
        try await World.with(.secretService) { world in
            let issuer = world.sandbox.issuer
            let client = hasSecret ? try #require(issuer.confidentialClientID) : issuer.clientID
            try world.configureIssuer(client: client, scopes: ["openid", "offline_access", "read_repository"])
            if hasSecret {
                let kept = try await world.lanyard(["rule", "secret", client], input: issuer.clientSecret)
                #expect(kept.status == 0, "\(kept)")
            }
            #expect(try await world.lanyard(["login", issuer.url], world.browser(as: "alice_contoso")).status == 0)
            let first = try await world.lanyard(["get"], input: "url=\(issuer.url)\n")
            let token = try #require(first.value("password"), "\(first)")
            _ = try await world.lanyard(["erase"], input: "url=\(issuer.url)\npassword=\(token)\n")
            let calls = try await calls(of: world) { try await world.lanyard(["get"], input: "url=\(issuer.url)\n") }
            let written = calls.count { ["CreateItem", "SetSecret"].contains($0.member) }
            #expect(written >= 1, "\(calls)")
            #expect(calls.count { $0.member == "SearchItems" } <= 3 + written, "\(calls)")
        }
    }

    @Test func `a locked keyring isn't opened for an identity, whose token is remembered`() async throws {
        try await World.with(.secretService, ownKernelKeys: true) { world in
            try IdentityTests.configure(world)
            try await world.keyring.lock()
            // With a display, the keyring could open a window for its password; to unlock one without takes no prompt.
            let identity = ["LANYARD_IDENTITY": "release", "DISPLAY": ":99"]
            for _ in 0..<2 {
                let calls = try await calls(of: world) { try await world.get(Self.path, identity) }
                #expect(!calls.contains { $0.member == "Prompt" }, "\(calls)")
            }
            #expect(try await world.sandbox.authorityRequests().count(grant: "client_credentials") == 1)
        }
    }

    @Test(arguments: [["status", "--accounts"], ["cache", "list"]])
    func `listing searches the keyring once`(_ command: [String]) async throws {
        try await World.with(.secretService) { world in
            try await signIn(world)
            let calls = try await calls(of: world) { try await world.lanyard(command) }
            #expect(
                calls.filter(\.isToKeyring).map(\.member).sorted() == ["GetSecrets", "OpenSession", "SearchItems"],
                "\(calls)")
        }
    }

    private func signIn(_ world: World) async throws {
        #expect(try await world.get(Self.path, world.browser(as: "alice@contoso.example")).status == 0)
        #expect(try await world.get(Self.path).status == 0)
    }

    /// Returns the calls on the bus while the body runs one program.
    private func calls(of world: World, _ body: () async throws -> Ended) async throws -> [BusCall] {
        let file = "\(world.folder)/bus-\(UUID()).log"
        let lines = try await with(
            "stdbuf", ["--output=L", "dbus-monitor", "--session", "--profile"], output: file,
            environment: world.environment
        ) {
            // A connection that becomes a monitor loses its name.
            _ = try await Self.lines(of: file, with: "NameLost")
            #expect(try await body().status == 0)
            let mark = try await world.keyring.run(
                "dbus-send",
                ["--session", "--print-reply", "--dest=org.freedesktop.DBus", "/mark", "org.example.Mark.End"])
            #expect(mark.status != 0)
            return try await Self.lines(of: file, with: "org.example.Mark")
        }.result
        let calls = lines.compactMap { BusCall($0) }
        let others = Set(calls.filter { $0.path == "/mark" || $0.member == "BecomeMonitor" }.map(\.sender))
        return calls.filter { !others.contains($0.sender) }
    }

    /// Returns the lines of a file once one contains a word.
    private static func lines(of file: String, with word: String) async throws -> [Substring] {
        for _ in 0..<3000 {
            let text = try String(contentsOfFile: file, encoding: .utf8)
            if text.contains(word) { return text.split(separator: "\n") }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record("dbus-monitor told of no \(word)")
        return []
    }
}

/// One method call, as reported by dbus-monitor.
private struct BusCall: Equatable, CustomStringConvertible {
    let sender: String
    let path: String
    let member: String

    var description: String { "\(member) \(path)" }
    var isToKeyring: Bool { path.hasPrefix("/org/freedesktop/secrets") }

    /// Parses a line: type, time, serial, sender, destination, path, interface and member; nil unless it is a call.
    init?(_ line: Substring) {
        let parts = line.split(separator: "\t").map(String.init)
        guard parts.count == 8, parts[0] == "mc" else { return nil }
        sender = parts[3]
        path = parts[5]
        member = parts[7]
    }
}
