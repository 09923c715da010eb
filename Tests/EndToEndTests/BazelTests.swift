import Foundation
import TestSupport
import Testing

/// BuildStream's buildbox-casd, which uses Bazel's protocol, and the helper by itself.
@Suite(.enabled(if: Clients.folder != nil, "there are none: script/get tools says why"))
struct BazelTests {
    private static let capabilities = "/build.bazel.remote.execution.v2.Capabilities/GetCapabilities"

    @Test func `buildbox-casd gets in with a rule's token`() async throws {
        try await World.with { world in
            try world.link("bazel-credential-lanyard")
            try await GuardedServer.serve(.calls, in: world.folder + "/cache") { cache in
                try world.configure(rule: cache.url, at: "contoso.example")
                // No account is signed in, and the user isn't asked.
                try cache.guarded(by: "Bearer none")
                let browser = world.browser(as: "alice@contoso.example")
                let alone = try await Self.startCache(in: world, at: cache, browser)
                #expect(alone.status != 0 && alone.errors.contains("Credential helper failed"), "\(alone)")
                let refused = try await Self.get(cache.url + "/x", in: world, browser)
                #expect(refused.status == 2 && refused.output.isEmpty, "\(refused)")
                #expect(refused.errors.contains("lanyard login \(cache.url)/x"), "\(refused)")
                #expect(try cache.readLog().isEmpty)

                let token = try await world.lanyard(["token", cache.url], browser)
                try cache.guarded(by: "Bearer \(token.lines.first ?? "")")
                let ended = try await Self.startCache(in: world, at: cache)
                #expect(try cache.readLog().first == "200 \(Self.capabilities)", "\(ended)")
                #expect(!(ended.output + ended.errors).contains(token.lines.first ?? ""))
            }
        }
    }

    @Test func `buildbox-casd goes without a header if there is nothing`() async throws {
        try await World.with { world in
            try world.link("bazel-credential-lanyard")
            try await GuardedServer.serve(.calls, in: world.folder + "/cache") { cache in
                let ended = try await Self.startCache(in: world, at: cache)
                #expect(try cache.readLog().first == "200 \(Self.capabilities)", "\(ended)")
            }
        }
    }

    /// Runs buildbox-casd until it has contacted the cache, or failed.
    private static func startCache(
        in world: World, at cache: GuardedServer, _ extra: [String: String] = [:]
    ) async throws -> Ended {
        // After contacting the cache, it exits because it can't create its socket.
        try await world.tool(
            Clients.program("buildbox-casd"),
            [
                "--cas-remote=\(cache.url)", "--cas-server-cert=\(cache.caFile)", "--cas-retry-limit=0",
                "--cas-credential-helper=\(world.folder)/bin/bazel-credential-lanyard",
                "--bind=unix:\(world.folder)/none/socket", "\(world.folder)/casd",
            ], extra)
    }

    private static func get(
        _ uri: String, in world: World, _ extra: [String: String] = [:]
    ) async throws -> Ended {
        try await world.runInside(
            "\(world.folder)/bin/bazel-credential-lanyard", ["get"], input: #"{"uri":"\#(uri)"}"#,
            environment: world.environment.merging(extra) { $1 })
    }
}
