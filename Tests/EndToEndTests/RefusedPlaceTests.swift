import Foundation
import TestSupport
import Testing

/// Tokens that one repository rejects and others accept.
@Suite struct RefusedPlaceTests {
    private static let alice = "alice@contoso.example"
    private static let lost = "common/lost.git"
    private static let kept = "common/hello.git"

    private static func erase(_ token: String?, at url: String, _ world: World, lines: String = "") async throws {
        let input = "url=\(url)\nusername=x\npassword=\(token ?? "")\n\(lines)"
        let ended = try await world.lanyard(["erase"], input: input)
        #expect(ended.status == 0 && ended.output.isEmpty && ended.errors.isEmpty, "\(ended)")
    }

    /// Signs in, has the token rejected at the lost repository, and renewed for the other.
    private static func renewed(_ world: World) async throws -> String {
        let first = try await world.get(lost, world.browser(as: alice))
        try #require(first.status == 0, "\(first)")
        try await erase(first.value("password"), at: "\(world.sandbox.resource)/\(lost)", world)
        try await world.sandbox.clearLog()
        return try #require(try await world.get(kept).value("password"))
    }

    @Test func `a refusal of one path says nothing about another`() async throws {
        try await World.with { world in
            let token = try await Self.renewed(world)
            #expect(try await world.get(Self.lost).value("password") == token)
            // Like a job that finds many repositories gone: none of them causes another renewal.
            for path in [Self.lost, "common/gone.git", "common/lost.git", "common/away.git"] {
                try await Self.erase(token, at: "\(world.sandbox.resource)/\(path)", world)
                let refused = try await world.get(path)
                #expect(refused.status == 2 && refused.hasNoCredential, "\(refused)")
                let wait = refused.errors.firstMatch(of: /renewed again in (\d+) seconds/).flatMap { Int($0.1) }
                #expect((1...60).contains(wait ?? 0), "\(refused)")
                #expect(try await world.get(Self.kept).value("password") == token)
            }
            #expect(try await world.sandbox.authorityRequests().renewals.count == 1)
            // If a user is present, they are asked; the new token works everywhere.
            let asked = try await world.get(Self.lost, world.browser(as: Self.alice))
            #expect(asked.status == 0 && asked.value("password") != token, "\(asked)")
            #expect(try await world.get(Self.kept).value("password") == asked.value("password"))
            #expect(try await world.get(Self.lost).value("password") == asked.value("password"))
        }
    }

    @Test func `without paths, whoever can't be asked keeps the token that was just renewed`() async throws {
        try await World.with { world in
            try world.configure(rule: world.sandbox.resource, at: "common")
            let url = world.sandbox.resource
            func get(_ extra: [String: String] = [:]) async throws -> Ended {
                try await world.lanyard(["get"], extra, input: "url=\(url)\n")
            }
            let first = try await get(world.browser(as: Self.alice)).value("password")
            try await Self.erase(first, at: url, world)
            try await world.sandbox.clearLog()
            let second = try await get().value("password")
            #expect(second != nil && second != first)
            for _ in 0..<3 {
                try await Self.erase(second, at: url, world)
                #expect(try await get().value("password") == second)
            }
            #expect(try await world.sandbox.authorityRequests().renewals.count == 1)
            let asked = try await get(world.browser(as: Self.alice))
            #expect(asked.status == 0 && asked.value("password") != second, "\(asked)")
        }
    }

    @Test func `without a refresh token to note it beside, a refusal takes the token away`() async throws {
        try await World.with { world in
            let token = try await Self.renewed(world)
            let cleared = try await world.keyring.secretTool(["clear", "kind", "refreshtoken"])
            try #require(cleared.status == 0, "\(cleared)")
            #expect(try await world.get(Self.lost).value("password") == token)
            try await Self.erase(token, at: "\(world.sandbox.resource)/\(Self.lost)", world)
            let after = try await world.get(Self.lost)
            #expect(after.status == 2 && after.hasNoCredential, "\(after)")
        }
    }

    @Test func `a refresh token that dies takes along what was refused of it`() async throws {
        try await World.with { world in
            let token = try await Self.renewed(world)
            try await Self.erase(token, at: "\(world.sandbox.resource)/\(Self.lost)", world)
            try await world.sandbox.revoke(#"{"username": "\#(Self.alice)"}"#)
            let claims = Data(#"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#.utf8).base64EncodedString()
            let input = """
                url=\(world.sandbox.resource)/\(Self.kept)
                wwwauth[]=Bearer error="insufficient_claims", claims="\(claims)"

                """
            #expect(try await world.lanyard(["get"], input: input).status == 2)
            let after = try await world.get(Self.lost)
            #expect(after.status == 2 && after.hasNoCredential, "\(after)")
        }
    }

    @Test func `a claims challenge of one path leaves the others`() async throws {
        try await World.with { world in
            let (guarded, plain) = ("contoso/guarded.git", "contoso/hello.git")
            let browser = world.browser(as: Self.alice)
            let first = try await world.get(plain, browser)
            let token = try #require(first.value("password"), "\(first)")
            let claims = #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#
            let header = "Bearer error=\"insufficient_claims\", claims=\"\(Data(claims.utf8).base64EncodedString())\""
            try await Self.erase(
                token, at: "\(world.sandbox.resource)/\(guarded)", world, lines: "wwwauth[]=\(header)\n")
            for _ in 0..<2 {
                let refused = try await world.get(guarded)
                #expect(refused.status == 2 && refused.errors.contains("--claims '\(claims)'\n"), "\(refused)")
                #expect(try await world.get(plain).value("password") == token)
            }
            let second = try await world.get(guarded, browser)
            #expect(second.status == 0 && second.value("password") != token, "\(second)")
            #expect(try await world.get(plain).value("password") == second.value("password"))
        }
    }
}
