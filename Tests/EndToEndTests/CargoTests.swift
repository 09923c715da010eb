import Foundation
import TestSupport
import Testing

/// cargo fetches crates from a registry that requires a token.
///
/// cargo in Debian 12 doesn't support credential providers.
@Suite(.enabled(if: Clients.newerFolder != nil, "script/test --with newer-tools runs these"))
struct CargoTests {
    /// A project that needs a crate from a registry.
    private struct Project: Sendable {
        let world: World
        let registry: GuardedServer
        var index: String { registry.url + "/index" }

        static func with(_ body: @escaping @Sendable (Project) async throws -> Void) async throws {
            try await World.with { world in
                try world.link("cargo-credential-lanyard")
                try await GuardedServer.serve(.files, in: world.folder + "/registry") { registry in
                    let project = Project(world: world, registry: registry)
                    try await project.publish()
                    try project.write()
                    try await body(project)
                }
            }
        }

        /// Publishes a crate in the registry.
        private func publish() async throws {
            let script = """
                mkdir -p hello-1.0.0/src && cd hello-1.0.0 && touch src/lib.rs
                printf '[package]\\nname = "hello"\\nversion = "1.0.0"\\n' >Cargo.toml
                cd .. && tar czf hello.crate hello-1.0.0 && sha256sum hello.crate
                """
            let made = try await world.runInside("/bin/sh", ["-c", script])
            let digest = try #require(made.output.split(separator: " ").first)
            let crate = try #require(FileManager.default.contents(atPath: world.folder + "/work/hello.crate"))
            try registry.put(Array(crate), at: "crates/hello/1.0.0")
            try registry.put(
                #"{"name":"hello","vers":"1.0.0","deps":[],"cksum":"\#(digest)","features":{},"yanked":false}"# + "\n",
                at: "index/he/ll/hello")
            try registry.put(
                #"{"dl":"\#(registry.url)/crates/{crate}/{version}","api":"\#(registry.url)","auth-required":true}"#,
                at: "index/config.json")
            try registry.put(
                #"{"users":[{"id":1,"login":"alice","name":"Alice"}]}"#, at: "api/v1/crates/app/owners")
        }

        private func write() throws {
            let files = FileManager.default
            try files.createDirectory(atPath: "\(world.folder)/cargo", withIntermediateDirectories: true)
            try """
            [registries.corp]
            index = "sparse+\(index)/"
            [registry]
            global-credential-providers = ["cargo:token", "cargo-credential-lanyard"]
            [http]
            cainfo = "\(registry.caFile)"

            """.write(toFile: world.folder + "/cargo/config.toml", atomically: true, encoding: .utf8)
            try world.writeCrate(registry: "corp")
        }

        /// Runs a fresh cargo, which hasn't fetched anything.
        func cargo(_ arguments: [String], input: String = "", _ extra: [String: String] = [:]) async throws -> Ended {
            for folder in ["cargo/registry", "work/app/Cargo.lock"] {
                try? FileManager.default.removeItem(atPath: "\(world.folder)/\(folder)")
            }
            let own = ["CARGO_HOME": world.folder + "/cargo", "RUSTC": Clients.newer("rustc")]
            return try await world.runInside(
                "/bin/sh", ["-c", "cd app && exec \"$@\"", "sh", Clients.newer("cargo")] + arguments, input: input,
                environment: world.environment.merging(own) { $1 }.merging(extra) { $1 })
        }
    }

    @Test func `a crate is fetched with a rule's token, after a sign-in`() async throws {
        try await Project.with { project in
            let (world, registry) = (project.world, project.registry)
            try world.configure(rule: project.index, at: "contoso.example")
            try registry.guarded(by: "Bearer none")
            let alone = try await project.cargo(["fetch"])
            #expect(alone.status == 101 && alone.errors.contains("lanyard login \(project.index)"), "\(alone)")
            let login = try await project.cargo(
                ["login", "--registry", "corp"], world.browser(as: "alice@contoso.example"))
            #expect(login.status == 0, "\(login)")
            let printed = try await world.lanyard(["token", project.index])
            let token = try #require(printed.lines.first, "\(printed)")
            try registry.guarded(by: "Bearer \(token)")
            _ = try registry.readLog()
            let fetched = try await project.cargo(["fetch"])
            #expect(fetched.status == 0, "\(fetched)")
            #expect(
                try registry.readLog() == [
                    "401 /index/config.json", "200 /index/config.json", "200 /index/he/ll/hello",
                    "200 /crates/hello/1.0.0",
                ])
            #expect(!(fetched.output + fetched.errors).contains(token))
            // Operations other than reading ask separately.
            let owners = try await project.cargo(["owner", "--list", "app", "--registry", "corp"])
            #expect(owners.status == 0 && owners.output.contains("alice (Alice)"), "\(owners)")
            #expect(try registry.readLog().contains("200 /api/v1/crates/app/owners"))
        }
    }

    @Test func `what is typed at a login is the header, until the logout`() async throws {
        try await Project.with { project in
            try project.registry.guarded(by: "Custom typed-text")
            let login = try await project.cargo(["login", "--registry", "corp"], input: "Custom typed-text\n")
            #expect(login.status == 0, "\(login)")
            let fetched = try await project.cargo(["fetch"])
            #expect(fetched.status == 0, "\(fetched)")
            let logout = try await project.cargo(["logout", "--registry", "corp"])
            #expect(logout.status == 0, "\(logout)")
            let after = try await project.cargo(["fetch"])
            #expect(after.status == 101 && after.errors.contains("no token found for `corp`"), "\(after)")
        }
    }
}

extension World {
    /// Writes the crate `app`, below `work`, which needs version 1 of `hello` from a registry.
    func writeCrate(registry: String) throws {
        let app = folder + "/work/app"
        try FileManager.default.createDirectory(atPath: app + "/src", withIntermediateDirectories: true)
        try """
        [package]
        name = "app"
        version = "1.0.0"
        [dependencies]
        hello = { version = "1", registry = "\(registry)" }

        """.write(toFile: app + "/Cargo.toml", atomically: true, encoding: .utf8)
        try "fn main() {}\n".write(toFile: app + "/src/main.rs", atomically: true, encoding: .utf8)
    }
}
