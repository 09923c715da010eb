import Foundation
import TestSupport
import Testing

/// Bazel itself, fetching a file from a server that requires a token.
///
/// buildbox-casd uses the same protocol, which ``BazelTests`` tests wherever PyPI is available.
@Suite(.enabled(if: Clients.hasBazel, "script/test --with newer-tools runs these, if sid has a Bazel"))
struct BazelFetchTests {
    /// A workspace that needs a file from a server.
    private struct Workspace: Sendable {
        let world: World
        let server: GuardedServer
        /// The rule's URL, which the file is below.
        var place: String { server.url + "/files" }

        static func with(_ body: @escaping @Sendable (Workspace) async throws -> Void) async throws {
            try await World.with { world in
                try world.link("bazel-credential-lanyard")
                try await GuardedServer.serve(.files, in: world.folder + "/server") { server in
                    let workspace = Workspace(world: world, server: server)
                    try server.put("hello\n", at: "files/hello.txt")
                    try workspace.write()
                    try await workspace.trust()
                    #expect(try await world.lanyard(["configure", "bazel", "--yes"]).status == 0)
                    try await body(workspace)
                }
            }
        }

        private func write() throws {
            try """
            load("@bazel_tools//tools/build_defs/repo:http.bzl", "http_file")
            http_file(
                name = "hello",
                urls = ["\(place)/hello.txt"],
                sha256 = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03",
            )

            """.write(toFile: world.folder + "/work/WORKSPACE", atomically: true, encoding: .utf8)
        }

        /// Makes Java trust the server.
        private func trust() async throws {
            let ended = try await world.tool(
                Clients.newer("keytool"),
                [
                    "-importcert", "-noprompt", "-file", server.caFile, "-keystore", world.folder + "/trust",
                    "-storetype", "PKCS12", "-storepass", "changeit",
                ])
            try #require(ended.status == 0, "\(ended)")
        }

        /// Fetches the file with a fresh Bazel.
        ///
        /// The helper gets enough time, however slow the machine is.
        func fetch(_ extra: [String: String] = [:]) async throws -> Ended {
            let output = "\(world.folder)/bazel-\(UUID().uuidString)"
            return try await world.runInside(
                Clients.newer("bazel"),
                [
                    "--batch", "--output_user_root=\(output)",
                    "--host_jvm_args=-Djavax.net.ssl.trustStore=\(world.folder)/trust",
                    "--host_jvm_args=-Djavax.net.ssl.trustStorePassword=changeit",
                    "fetch", "--noenable_bzlmod", "--enable_workspace", "--credential_helper_timeout=5m",
                    "@hello//file",
                ], environment: world.environment.merging(extra) { $1 }, timeout: .seconds(300))
        }
    }

    @Test func `a file comes with a rule's token, and without a sign-in the command is named`() async throws {
        try await Workspace.with { workspace in
            let (world, server) = (workspace.world, workspace.server)
            try world.configure(rule: workspace.place, at: "contoso.example")
            try server.guarded(by: "Bearer none")
            let browser = world.browser(as: "alice@contoso.example")
            let refused = try await workspace.fetch(browser)
            #expect(refused.status != 0, "\(refused)")
            #expect(refused.errors.contains("lanyard login \(workspace.place)/hello.txt"), "\(refused)")
            #expect(try server.readLog().allSatisfy { $0 == "401 /files/hello.txt" })

            let token = try #require(try await world.lanyard(["token", workspace.place], browser).lines.first)
            try server.guarded(by: "Bearer \(token)")
            let fetched = try await workspace.fetch()
            #expect(fetched.status == 0, "\(fetched)")
            #expect(try server.readLog() == ["200 /files/hello.txt"])
            #expect(!(fetched.output + fetched.errors).contains(token))
        }
    }

    @Test func `a password for a path above serves`() async throws {
        try await Workspace.with { workspace in
            let lines = "url=\(workspace.place)\nusername=alice\npassword=secret\n"
            #expect(try await workspace.world.lanyard(["store"], input: lines).status == 0)
            try workspace.server.guarded(by: "Basic YWxpY2U6c2VjcmV0")
            let fetched = try await workspace.fetch()
            #expect(fetched.status == 0, "\(fetched)")
            #expect(try workspace.server.readLog() == ["200 /files/hello.txt"])
        }
    }
}
