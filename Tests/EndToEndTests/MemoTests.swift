import Foundation
import TestSupport
import Testing

/// A renewal sends the authority a single request, because its metadata is cached.
@Suite struct MemoTests {
    private static let alice = "alice@contoso.example"

    /// A way to request a token that always needs a renewal.
    private struct Place: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The authority's name in the sandbox's log.
        let host: String
        let user: String
        let get: @Sendable (World, [String: String]) async throws -> Ended
    }

    private static let places = [
        Place(testDescription: "Entra ID", host: "authority", user: alice) { try await $0.get("common/hello.git", $1) },
        Place(testDescription: "Entra ID, one tenant", host: "authority", user: alice) {
            try await $0.get("contoso/hello.git", $1)
        },
        Place(testDescription: "B2C", host: "authority", user: "erin@example.net") { world, variables in
            let tenant = "contosob2c.onmicrosoft.example"
            return try await world.get(
                at: "tfp/\(tenant)/B2C_1_susi", scopes: ["https://\(tenant)/sandbox-git/Repo.Read"],
                client: world.sandbox.b2cClientID, variables)
        },
        Place(testDescription: "OpenID Connect", host: "issuer", user: alice) { world, variables in
            try await world.lanyard(["get"], variables, input: "url=\(world.sandbox.issuer.url)/a.git\n")
        },
    ]

    /// Signs in, and renews until the authority's metadata is cached.
    private static func with(
        _ place: Place, _ body: @escaping @Sendable (World) async throws -> Void
    ) async throws {
        try await World.with { world in
            try world.configureIssuer(scopes: ["read_repository"], "kind = \"oidc\"")
            try await world.sandbox.set(#"{"access_token_lifetime": 0}"#)
            for variables in [world.browser(as: place.user), [:]] {
                let got = try await place.get(world, variables)
                try #require(got.status == 0, "\(got)")
            }
            try await world.sandbox.clearLog()
            try await body(world)
        }
    }

    private static func requests(_ world: World, of place: Place) async throws -> [Sandbox.Request] {
        try await world.sandbox.requests().filter { $0.host == place.host && !$0.path.hasPrefix("/_sandbox") }
    }

    @Test(arguments: places)
    private func `a renewal is one request`(place: Place) async throws {
        try await Self.with(place) { world in
            for _ in 0..<2 {
                try await world.sandbox.clearLog()
                let got = try await place.get(world, [:])
                #expect(got.status == 0 && got.errors.isEmpty, "\(got)")
                let asked = try await Self.requests(world, of: place)
                #expect(asked.count == 1 && asked.renewals.count == 1, "\(asked)")
            }
        }
    }

    @Test(arguments: places)
    private func `an authority whose endpoint has moved is asked anew`(place: Place) async throws {
        try await Self.with(place) { world in
            try await world.sandbox.fault(#"{"path": "/token", "status": 404, "times": 1, "body": "gone"}"#)
            let got = try await place.get(world, [:])
            #expect(got.status == 0 && got.errors.isEmpty, "\(got)")
            let asked = try await Self.requests(world, of: place)
            #expect(asked.map(\.method) == ["POST", "GET", "POST"], "\(asked)")
        }
    }

    @Test(arguments: places)
    private func `a memo that somebody else wrote sends nothing elsewhere`(place: Place) async throws {
        try await Self.with(place) { world in
            let folder = world.folder + "/cache/lanyard/memos"
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(!names.isEmpty)
            let own = place.host == "issuer" ? world.sandbox.issuer.url : world.sandbox.authority
            for name in names {
                let file = "\(folder)/\(name)"
                let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
                #expect(mode == 0o600)
                let text = try String(contentsOfFile: file, encoding: .utf8)
                #expect(text.contains("token_endpoint") && !text.contains("eyJ"), "\(text)")
                // Forge only the endpoints: the cached metadata is still the authority's.
                let forged = text.replacing(
                    "token_endpoint\\\":\\\"\(own)", with: "token_endpoint\\\":\\\"\(world.sandbox.resource)")
                #expect(forged != text, "\(text)")
                try forged.write(toFile: file, atomically: false, encoding: .utf8)
            }
            let got = try await place.get(world, [:])
            #expect(got.status == 0, "\(got)")
            let asked = try await world.sandbox.requests()
            #expect(asked.allSatisfy { $0.host != "resource" }, "\(asked)")
            #expect(asked.count { $0.method == "POST" && $0.host == place.host } == 1, "\(asked)")
        }
    }

    @Test(
        arguments: [
            "{}", "", #"{"memo":"x","from":0,"until":99999999999}"#, #"{"memo":"{\"a\":1}","from":0,"until":9}"#,
        ])
    func `a memo that can't be read is none`(text: String) async throws {
        let place = Self.places[0]
        try await Self.with(place) { world in
            let folder = world.folder + "/cache/lanyard/memos"
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                try text.write(toFile: "\(folder)/\(name)", atomically: false, encoding: .utf8)
            }
            for count in [2, 1] {
                try await world.sandbox.clearLog()
                #expect(try await place.get(world, [:]).status == 0)
                #expect(try await Self.requests(world, of: place).count == count)
            }
        }
    }
}
