import Foundation
import TestSupport
import Testing

/// After lanyard's error for a URL that a rule maps, git asks for no user name: people would type a secret there.
@Suite struct GitQuitTests {
    /// A reason why lanyard has no token.
    private struct Obstacle: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var keyring = KeyringFixture.State.unlocked
        var environment: [String: String] = [:]
        /// git's options before `clone`.
        var options: [String] = []
        /// What lanyard says.
        let told: String
        var prepare: @Sendable (World) throws -> Void = { _ in }
    }

    private static let obstacles = [
        Obstacle(testDescription: "nobody signed in", told: "interaction required"),
        Obstacle(testDescription: "a locked keyring", keyring: .locked, told: "the keyring is locked"),
        Obstacle(testDescription: "no keyring yet", keyring: .noKeyring, told: "lanyard: error: "),
        Obstacle(testDescription: "no bus", keyring: .noBus, told: "there is no D-Bus session"),
        Obstacle(testDescription: "no keyring service", keyring: .noProvider, told: "no keyring service"),
        Obstacle(
            testDescription: "a configuration that can't be read", told: "config.toml:1: ",
            prepare: { try $0.configure(before: "nonsense") }),
        Obstacle(
            testDescription: "an agent that doesn't answer", environment: ["LANYARD_AGENT": "/tmp/no-agent.socket"],
            told: "the agent at /tmp/no-agent.socket"),
        Obstacle(
            testDescription: "a wrong option in git's configuration",
            options: ["-c", "credential.helper=", "-c", "credential.helper=lanyard --no-brwser"],
            told: "--no-brwser"),
        Obstacle(
            testDescription: "a client ID that is none", told: "is not a client ID",
            prepare: { world in
                let text = try String(contentsOfFile: world.configFile, encoding: .utf8)
                try text.replacing(world.sandbox.clientID, with: "azurecli")
                    .write(toFile: world.configFile, atomically: true, encoding: .utf8)
            }),
        Obstacle(
            testDescription: "a plugin that is missing", environment: ["LANYARD_PLUGIN_PATH": "/nonexistent"],
            told: "lanyard: error: ",
            prepare: { world in
                let text = try String(contentsOfFile: world.configFile, encoding: .utf8)
                try text.replacing("\(world.sandbox.authority)/", with: "https://nobody.example/")
                    .write(toFile: world.configFile, atomically: true, encoding: .utf8)
            }),
    ]

    @Test(arguments: obstacles, GitProgram.all)
    private func `git asks for no user name after lanyard's error`(obstacle: Obstacle, git: GitProgram) async throws {
        try await World.with(obstacle.keyring) { world in
            try obstacle.prepare(world)
            let asked = try askpass(in: world)
            let url = "\(world.sandbox.resource)/contoso/hello.git"
            let clone = try await world.git(
                obstacle.options + ["clone", "--quiet", url, "hello"],
                obstacle.environment.merging(["GIT_ASKPASS": asked]) { $1 }, by: git)
            #expect(clone.status == 128 && clone.errors.contains(obstacle.told), "\(clone)")
            #expect(clone.errors.contains("told us to quit"), "\(clone)")
            #expect(!clone.errors.contains("askpass: "), "\(clone)")
        }
    }

    @Test(arguments: [KeyringFixture.State.unlocked, .locked, .noProvider], GitProgram.all)
    func `git asks for the user name of a URL that no rule maps`(state: KeyringFixture.State, git: GitProgram)
        async throws
    {
        try await World.with(state) { world in
            let text = try String(contentsOfFile: world.configFile, encoding: .utf8)
            try text.components(separatedBy: "[[rule]]")[0]
                .write(toFile: world.configFile, atomically: true, encoding: .utf8)
            let asked = try askpass(in: world)
            let url = "\(world.sandbox.resource)/contoso/hello.git"
            let clone = try await world.git(["clone", "--quiet", url, "hello"], ["GIT_ASKPASS": asked], by: git)
            #expect(clone.status == 128 && clone.errors.contains("askpass: Username for"), "\(clone)")
            #expect(!clone.errors.contains("told us to quit"), "\(clone)")
        }
    }

    /// Returns a program that says that git asks.
    private func askpass(in world: World) throws -> String {
        let path = world.folder + "/askpass"
        try "#!/bin/sh\necho >&2 \"askpass: $*\"\necho nobody\n"
            .write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return path
    }
}
