import Foundation
import TestSupport
import Testing

/// What code hosts serve besides git, after the sign-in for git: packages and images of the host that behaves like Gitea.
@Suite(.enabled(if: Clients.folder != nil, "there are none: script/get tools says why"))
struct CodeHostPackagesTests {
    private static let npm = "/usr/bin/npm"

    /// Runs the body in a world where Alice has cloned from the host; passes the host's URL.
    private static func afterClone(_ body: @escaping @Sendable (World, String) async throws -> Void) async throws {
        try await World.with(hosts: [.gitea]) { world in
            let url = world.sandbox.gitea.url
            let cloned = try await world.git(
                ["clone", "--quiet", "\(url)/contoso/hello.git"], world.browser(as: "alice@contoso.example"))
            try #require(cloned.status == 0, "\(cloned)")
            try await world.sandbox.clearLog()
            try await body(world, url)
            let asked = try await world.sandbox.requests().filter { $0.host == "gitea" }
            #expect(!asked.contains { $0.path.hasPrefix("/login") }, "nobody signs in again: \(asked)")
            #expect(asked.contains { $0.status == 200 && $0.user == "alice@contoso.example" }, "\(asked)")
        }
    }

    private static func bin(_ name: String, in world: World) throws -> String {
        let folder = world.folder + "/links"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: "\(folder)/\(name)", withDestinationPath: Built.lanyard)
        return "\(folder):\(world.environment["PATH"] ?? "")"
    }

    @Test func `skopeo gets a token of the registry's own for git's`() async throws {
        try await Self.afterClone { world, url in
            let settings = world.folder + "/auth.json"
            let host = url.dropFirst("https://".count)
            try #"{"credHelpers":{"\#(host)":"lanyard"}}"#.write(toFile: settings, atomically: true, encoding: .utf8)
            let certificates = world.folder + "/certs"
            try FileManager.default.createDirectory(atPath: certificates, withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: world.sandbox.caFile, toPath: certificates + "/ca.crt")
            let tags = try await world.runInside(
                Clients.program("skopeo"),
                ["list-tags", "--cert-dir", certificates, "docker://\(host)/contoso/hello"],
                environment: world.environment.merging([
                    "REGISTRY_AUTH_FILE": settings, "PATH": try Self.bin("docker-credential-lanyard", in: world),
                ]) { $1 })
            #expect(tags.status == 0 && tags.output.contains("\"1.0\""), "\(tags)")
        }
    }

    @Test func `pip gets the token by the keyring that lanyard stands in for`() async throws {
        try await Self.afterClone { world, url in
            let found = try await world.runInside(
                Clients.program("pip"),
                [
                    "index", "versions", "--no-input", "--no-cache-dir", "--keyring-provider", "subprocess",
                    "--index-url",
                    "\(url)/api/packages/contoso/pypi/simple", "hello",
                ],
                environment: world.environment.merging([
                    "PATH": try Self.bin("keyring", in: world), "PIP_CONFIG_FILE": "/dev/null",
                    "PIP_CERT": world.sandbox.caFile, "PIP_DISABLE_PIP_VERSION_CHECK": "1",
                ]) { $1 })
            #expect(found.status == 0 && found.output.contains("hello (1.0)"), "\(found)")
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: npm), "there is no npm"))
    func `npm gets the token in a variable`() async throws {
        try await Self.afterClone { world, url in
            let registry = "\(url)/api/packages/contoso/npm/"
            let file = world.folder + "/npmrc"
            try "registry=\(registry)\n\(registry.dropFirst("https:".count)):_authToken=${NPM_TOKEN}\n".write(
                toFile: file, atomically: true, encoding: .utf8)
            let seen = try await world.lanyard(
                ["exec", registry, "--env", "NPM_TOKEN", "--", Self.npm, "view", "hello", "version"],
                [
                    "PATH": "/usr/bin:/bin", "NPM_CONFIG_USERCONFIG": file, "NPM_CONFIG_CAFILE": world.sandbox.caFile,
                    "NPM_CONFIG_CACHE": world.folder + "/npm", "NPM_CONFIG_UPDATE_NOTIFIER": "false",
                ])
            #expect(seen.status == 0 && seen.output.contains("1.0.0"), "\(seen)")
        }
    }
}
