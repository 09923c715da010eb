import Foundation
import TestSupport
import Testing

/// A group is shared by all clients in it, like a keychain access group, and by no others.
@Suite struct GroupTests {
    private static let editor = "fa311100-0000-4000-8000-0000000000a1"
    private static let viewer = "fa311100-0000-4000-8000-0000000000b2"
    private static let stranger = "5a4d1b0c-7a0e-4c5b-9d2e-6c616e796172"

    @Test func `a family's refresh token serves every client of the family in the group`() async throws {
        try await World.with { world in
            let browser = world.browser(as: "alice@contoso.example")
            let signedIn = try await world.lanyard(["login"] + Self.token(world, Self.editor), browser)
            #expect(signedIn.status == 0, "\(signedIn)")
            try await world.sandbox.clearLog()
            let served = try await world.lanyard(["token"] + Self.token(world, Self.viewer))
            #expect(served.status == 0 && !served.output.isEmpty, "\(served)")
            let requests = try await world.sandbox.authorityRequests()
            #expect(requests.count(grant: "refresh_token") == 1)
            #expect(requests.count(grant: "authorization_code") == 0)
            // A client outside the group sees the account, but must ask.
            let refused = try await world.lanyard(["token"] + Self.token(world, Self.stranger))
            #expect(refused.status == 2, "\(refused)")
            try await world.sandbox.clearLog()
            // The result is remembered: the family's token isn't tried again.
            #expect(try await world.lanyard(["token"] + Self.token(world, Self.stranger)).status == 2)
            #expect(try await world.sandbox.authorityRequests().isEmpty)
            #expect(try await world.lanyard(["status", "--accounts"]).lines.count == 2)
        }
    }

    @Test func `a refused token is not renewed by its family's again, and that serves the others`() async throws {
        try await World.with { world in
            let browser = world.browser(as: "alice@contoso.example")
            #expect(try await world.lanyard(["login"] + Self.token(world, Self.editor), browser).status == 0)
            let explicit = """
                authority=\(world.sandbox.authority)/contoso.example
                scope[]=https://graph.microsoft.com/User.Read
                client_id=\(Self.viewer)

                """
            // The token was just renewed and is rejected, so renewing doesn't help.
            let got = try await world.lanyard(["get"], input: explicit)
            let token = try #require(got.value("password"), "\(got)")
            #expect(try await world.lanyard(["erase"], input: explicit + "password=\(token)\n").status == 0)
            #expect(try await world.lanyard(["get"], input: explicit).status == 2)
            let editor = try await world.lanyard(
                ["token", "--scope", "api://sandbox-git/.default"] + Self.place(world))
            #expect(editor.status == 0, "\(editor)")
        }
    }

    @Test func `another group sees nothing of it`() async throws {
        try await World.with { world in
            let browser = world.browser(as: "alice@contoso.example")
            #expect(try await world.lanyard(["login"] + Self.token(world, Self.editor), browser).status == 0)
            let own = world.folder + "/own.toml"
            try FileManager.default.copyItem(atPath: world.configFile, toPath: own)
            try world.configure(before: #"group = "another""#)
            #expect(try await world.lanyard(["token"] + Self.token(world, Self.editor)).status == 2)
            #expect(try await world.lanyard(["status", "--accounts", "--json"]).output.contains("alice") == false)
            _ = try await world.lanyard(["logout", "--all"])
            let text = try await world.lanyard(["status", "--accounts"], ["LANYARD_CONFIG": own])
            #expect(text.output.contains("alice@contoso.example"), "\(text)")
        }
    }

    private static func place(_ world: World) -> [String] {
        ["--authority", "\(world.sandbox.authority)/contoso.example", "--client-id", editor]
    }

    private static func token(_ world: World, _ client: String) -> [String] {
        [
            "--authority", "\(world.sandbox.authority)/contoso.example", "--scope",
            "https://graph.microsoft.com/User.Read", "--client-id", client,
        ]
    }
}
