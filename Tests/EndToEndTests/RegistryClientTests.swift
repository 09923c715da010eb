import Foundation
import TestSupport
import Testing

/// docker's CLI, oras, podman, and a skopeo that asks two kinds of helpers, with registries that issue tokens.
@Suite(.enabled(if: Clients.newerFolder != nil, "script/test --with newer-tools runs these"))
struct RegistryClientTests {
    /// Whether podman runs as it is: an ordinary user's becomes root in a namespace, with the machine's newuidmap.
    private static let mayRunPodman = geteuid() == 0

    /// Each program's command to inspect the repository hello, and its expected output for an image.
    private static let looks: [(command: [String], sight: String)] = [
        (["docker", "manifest", "inspect", "--insecure", "IMAGE"], "schemaVersion"),
        (["oras", "repo", "tags", "--plain-http", "REPOSITORY"], "latest"),
        (["podman", "search", "--list-tags", "--tls-verify=false", "REPOSITORY"], "latest"),
        (["skopeo", "inspect", "--raw", "--tls-verify=false", "docker://IMAGE"], "schemaVersion"),
    ]

    /// Returns each program's output about the repository.
    private static func look(
        into registry: String, in world: World, _ extra: [String: String] = [:]
    ) async throws -> [(ended: Ended, sees: Bool)] {
        var all: [(Ended, Bool)] = []
        for (command, sight) in looks where command[0] != "podman" || mayRunPodman {
            let words = command.map {
                $0.replacing("IMAGE", with: "\(registry)/hello:latest").replacing(
                    "REPOSITORY", with: "\(registry)/hello")
            }
            let ended = try await world.client(words, extra)
            all.append((ended, ended.status == 0 && ended.output.contains(sight)))
        }
        return all
    }

    @Test func `what docker is told at a login opens the registry to all, until the logout`() async throws {
        try await ImageRegistry.with(.tokens) { registry in
            let (world, name) = (registry.world, registry.name)
            for tool in ["docker", "podman"] {
                #expect(try await world.lanyard(["configure", tool, "--yes"]).status == 0)
            }
            for (ended, sees) in try await Self.look(into: name, in: world) {
                #expect(!sees && ended.status > 0, "\(ended)")
            }
            let login = try await world.client(
                ["docker", "login", "--username", "alice", "--password-stdin", name], input: ImageRegistry.password)
            #expect(login.status == 0 && !login.errors.contains("unencrypted"), "\(login)")
            let settings = try String(contentsOfFile: world.folder + "/home/.docker/config.json", encoding: .utf8)
            #expect(settings.contains(#""credsStore": "lanyard""#) && !settings.contains(#""auth":"#), "\(settings)")

            try "hello\n".write(toFile: world.folder + "/work/note.txt", atomically: true, encoding: .utf8)
            let push = try await world.client(["oras", "push", "--plain-http", "\(name)/hello:latest", "note.txt"])
            #expect(push.status == 0, "\(push)")
            let pull = try await world.client(
                ["oras", "pull", "--plain-http", "--output", "pulled", "\(name)/hello:latest"])
            #expect(pull.status == 0, "\(pull)")
            #expect(
                FileManager.default.contents(atPath: world.folder + "/work/pulled/note.txt") == Data("hello\n".utf8))
            for (ended, sees) in try await Self.look(into: name, in: world) {
                #expect(sees, "\(ended)")
                #expect(!(ended.output + ended.errors).contains(ImageRegistry.password))
            }
            #expect(try registry.tokenLog().contains("200 repository:hello:pull,push"))

            let logout = try await world.client(["docker", "logout", name])
            #expect(logout.status == 0, "\(logout)")
            #expect(try await registry.helper("list", "unused").output == "{}\n")
            for (ended, sees) in try await Self.look(into: name, in: world) {
                #expect(!sees && ended.status > 0, "\(ended)")
            }
        }
    }

    @Test func `what podman and oras are told is in the keyring too, and in no file`() async throws {
        try await ImageRegistry.with(.tokens) { registry in
            let (world, name) = (registry.world, registry.name)
            for tool in ["docker", "podman"] {
                #expect(try await world.lanyard(["configure", tool, "--yes"]).status == 0)
            }
            let ownFile = "\(try #require(world.environment["XDG_RUNTIME_DIR"]))/containers/auth.json"
            for (program, insecure) in [
                ("podman", "--tls-verify=false"), ("skopeo", "--tls-verify=false"), ("oras", "--plain-http"),
            ] where program != "podman" || Self.mayRunPodman {
                let login = try await world.client(
                    [program, "login", insecure, "--username", "alice", "--password-stdin", name],
                    input: ImageRegistry.password)
                #expect(login.status == 0, "\(login)")
                #expect(
                    try await registry.helper("list", "unused").output == #"{"\#(name)":"alice"}"# + "\n", "\(program)")
                let file = (try? String(contentsOfFile: ownFile, encoding: .utf8)) ?? ""
                #expect(
                    !file.contains(Data("alice:\(ImageRegistry.password)".utf8).base64EncodedString()), "\(program)")
                let logout = try await world.client([program, "logout", name])
                #expect(logout.status == 0, "\(logout)")
                #expect(try await registry.helper("list", "unused").output == "{}\n", "\(program)")
            }
        }
    }

    @Test func `Azure's registry opens to all after one sign-in, for one exchange`() async throws {
        try await World.withRegistry(as: "alice@contoso.example") { world in
            for tool in ["docker", "podman"] {
                #expect(try await world.lanyard(["configure", tool, "--yes"]).status == 0)
            }
            let trust = ["SSL_CERT_FILE": world.sandbox.caFile]
            let secure: [[String]] = [
                ["docker", "manifest", "inspect", "\(world.registry)/hello:latest"],
                ["oras", "repo", "tags", "--plain-http=false", "\(world.registry)/hello"],
                ["podman", "search", "--list-tags", "\(world.registry)/hello"],
                ["skopeo", "inspect", "--raw", "docker://\(world.registry)/hello:latest"],
            ]
            for command in secure where command[0] != "podman" || Self.mayRunPodman {
                let ended = try await world.client(command, trust)
                #expect(ended.status == 0 && ended.output.contains(/latest|schemaVersion/), "\(command) \(ended)")
            }
            #expect(try await world.exchanges() == 1)
            // The user isn't asked: the error only names the command.
            #expect(try await world.lanyard(["logout", "--client-id", "azure-cli"]).status == 0)
            for command in secure where command[0] != "podman" || Self.mayRunPodman {
                let refused = try await world.client(
                    command, trust.merging(world.browser(as: "alice@contoso.example")) { $1 })
                #expect(refused.status != 0, "\(refused)")
                #expect(refused.errors.contains("lanyard login https://\(world.registry)"), "\(command) \(refused)")
            }
        }
    }
}

extension World {
    /// Runs one of the programs, with podman's storage in the world.
    fileprivate func client(
        _ command: [String], _ extra: [String: String] = [:], input: String = ""
    ) async throws -> Ended {
        var arguments = Array(command.dropFirst())
        if command[0] == "podman" {
            let storage = folder + "/podman"
            arguments =
                [
                    "--root", storage + "/root", "--runroot", storage + "/run", "--tmpdir", storage + "/tmp",
                    "--storage-driver", "vfs",
                ] + arguments
        }
        let own = [
            "CONTAINERS_CONF": "\(Clients.newerFolder ?? "")/trixie/containers.conf",
            "PODMAN_IGNORE_CGROUPSV1_WARNING": "1",
        ]
        return try await tool(Clients.newer(command[0]), arguments, own.merging(extra) { $1 }, input: input)
    }
}
