import Foundation
import TestSupport
import Testing

/// What a renewal stores, and what it doesn't touch.
@Suite struct RenewalTests {
    private static let alice = "alice@contoso.example"
    private static let path = "common/hello.git"

    /// A process that reaches the keyring by another address of the bus doesn't take turns with others, so the stored
    /// values are compared before each change.
    @Test(arguments: [false, true])
    func `a renewal leaves alone what a sign-in without its lock stored meanwhile`(isRefused: Bool) async throws {
        try await World.with(.secretService) { world in
            let browser = world.browser(as: Self.alice)
            let url = "\(world.sandbox.resource)/\(Self.path)"
            try await world.sandbox.set(#"{"access_token_lifetime": 200}"#)
            #expect(try await world.lanyard(["login", url], browser).status == 0)
            if isRefused { try await world.sandbox.revoke(#"{"username": "\#(Self.alice)"}"#) }
            try await world.sandbox.fault(#"{"path": "/token", "hold": true, "times": 1}"#)
            async let renewed = world.get(Self.path)
            try await world.sandbox.untilHeld()
            let bus = try #require(world.environment["DBUS_SESSION_BUS_ADDRESS"]).replacing("-", with: "%2d")
            let lockless = browser.merging(["DBUS_SESSION_BUS_ADDRESS": bus]) { $1 }
            let signedIn = try await world.lanyard(["login", url], lockless)
            #expect(signedIn.status == 0 && signedIn.duration < .seconds(60), "\(signedIn)")
            let stored = try await world.keyring.secretTool(["lookup", "kind", "refreshtoken"])
            #expect(stored.status == 0 && !stored.output.isEmpty, "\(stored)")
            try await world.sandbox.clearFaults()
            let ended = try await renewed
            #expect(isRefused || ended.status == 0, "\(ended)")
            let after = try await world.keyring.secretTool(["lookup", "kind", "refreshtoken"])
            #expect(after.output == stored.output)
        }
    }

    @Test func `who signs out during a renewal stays signed out`() async throws {
        try await World.with { world in
            try await world.sandbox.set(#"{"access_token_lifetime": 200}"#)
            let first = try await world.get(Self.path, world.browser(as: Self.alice))
            try #require(first.status == 0, "\(first)")
            try await world.sandbox.clearLog()
            try await world.sandbox.fault(#"{"path": "/token", "hold": true, "times": 1}"#)
            async let renewed = world.get(Self.path)
            try await world.sandbox.untilHeld()
            // It waits for the renewal.
            async let logout = world.lanyard(["logout", Self.alice])
            try await Task.sleep(for: .seconds(1))
            try await world.sandbox.clearFaults()
            #expect(try await renewed.status == 0)
            let signedOut = try await logout
            #expect(signedOut.status == 0, "\(signedOut)")
            #expect(try await world.lanyard(["status", "--accounts"]).output.isEmpty)
            #expect(try await world.get(Self.path).status == 2)
        }
    }

    @Test func `a renewal without an ID token leaves the account its name`() async throws {
        try await World.with { world in
            try await world.sandbox.set(#"{"access_token_lifetime": 200, "id_token_at_renewal": 0}"#)
            let first = try await world.get(Self.path, world.browser(as: Self.alice))
            try #require(first.value("username") == Self.alice, "\(first)")
            let accounts = try await world.lanyard(["status", "--accounts", "--json"]).output
            for _ in 0..<2 {
                let renewed = try await world.get(Self.path)
                #expect(renewed.status == 0 && renewed.value("username") == Self.alice, "\(renewed)")
                #expect(renewed.value("password") != first.value("password"))
            }
            #expect(try await world.get(Self.path, lines: "account=\(Self.alice)\n").status == 0)
            #expect(try await world.lanyard(["status", "--accounts", "--json"]).output == accounts)
        }
    }

    @Test func `tokens that share only OpenID Connect's scopes leave each other alone`() async throws {
        try await World.with { world in
            let browser = world.browser(as: Self.alice)
            let tenant = "contosob2c.onmicrosoft.example"
            let policy = "tfp/\(tenant)/B2C_1_susi"
            let graph = ["User.Read", "Mail.Read"].map { ["https://graph.microsoft.com/\($0)"] }
            let customers = ["Repo.Read", "Repo.Write"].map { ["https://\(tenant)/sandbox-git/\($0)"] }
            for scopes in graph {
                #expect(try await world.get(at: "contoso.example", scopes: scopes, browser).status == 0)
            }
            for scopes in customers {
                let ended = try await world.get(
                    at: policy, scopes: scopes, client: world.sandbox.b2cClientID, world.browser(as: "erin@example.net")
                )
                #expect(ended.status == 0, "\(ended)")
            }
            try await world.sandbox.clearLog()
            for _ in 0..<2 {
                for scopes in graph {
                    #expect(try await world.get(at: "contoso.example", scopes: scopes).status == 0)
                }
                for scopes in customers {
                    let ended = try await world.get(at: policy, scopes: scopes, client: world.sandbox.b2cClientID)
                    #expect(ended.status == 0, "\(ended)")
                }
            }
            #expect(try await world.sandbox.authorityRequests().isEmpty)
        }
    }

    @Test(arguments: ["file", "no folder at all"])
    func `if the locks' folder can't be used, tokens are renewed all the same`(_ obstacle: String) async throws {
        try await World.with(.secretService) { world in
            try await world.sandbox.set(#"{"access_token_lifetime": 200}"#)
            let first = try await world.get(Self.path, world.browser(as: Self.alice))
            try #require(first.status == 0, "\(first)")
            // Where the system has a runtime folder of this user's, no variable leads past that one.
            var environment = ["XDG_RUNTIME_DIR": "", "XDG_CACHE_HOME": "/proc"]
            if obstacle == "file" {
                let place = "\(world.folder)/home/.cache"
                try? FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
                try? FileManager.default.removeItem(atPath: place + "/lanyard")
                #expect(FileManager.default.createFile(atPath: place + "/lanyard", contents: Data()))
            } else {
                environment["HOME"] = "/proc"
            }
            let renewed = try await world.get(Self.path, environment)
            #expect(renewed.status == 0 && renewed.value("password") != first.value("password"), "\(renewed)")
            #expect(renewed.errors.isEmpty, "\(renewed)")
        }
    }
}
