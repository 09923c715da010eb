import Foundation
import KeyringFixture

/// A home of its own for one test: a keyring on a private D-Bus, a sandbox, and git configured for lanyard.
final class World: Sendable {
    let folder: String
    let keyring: KeyringSession
    let sandbox: Sandbox
    /// What programs run in; nobody is there to be asked.
    let environment: [String: String]

    /// Runs the body in a new world, and takes the world down whatever happens.
    static func with<Result>(
        _ state: KeyringState = .unlocked, _ body: (World) async throws -> Result
    ) async throws -> Result {
        let folder = NSTemporaryDirectory() + "lanyard-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let sandbox = try await Sandbox(folder: folder + "/sandbox")
        defer { sandbox.stop() }
        return try await KeyringSession.with(state) { keyring in
            let world = try World(folder: folder, keyring: keyring, sandbox: sandbox)
            try await world.prepare()
            return try await body(world)
        }
    }

    private init(folder: String, keyring: KeyringSession, sandbox: Sandbox) throws {
        self.folder = folder
        self.keyring = keyring
        self.sandbox = sandbox
        let home = folder + "/home"
        var environment = keyring.environment
        environment["PATH"] = "\(folder)/bin:/usr/bin:/bin"
        environment["HOME"] = home
        environment["XDG_CONFIG_HOME"] = home + "/.config"
        environment["XDG_RUNTIME_DIR"] = folder + "/run"
        environment["LANG"] = "C.UTF-8"
        environment["GIT_CONFIG_NOSYSTEM"] = "1"
        self.environment = environment
        let files = FileManager.default
        for path in ["bin", "run", "work", "home/.config/lanyard"] {
            try files.createDirectory(
                atPath: "\(folder)/\(path)", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        for name in ["lanyard", "git-credential-lanyard"] {
            try files.createSymbolicLink(atPath: "\(folder)/bin/\(name)", withDestinationPath: Built.lanyard)
        }
        try files.copyItem(atPath: sandbox.folder + "/config.toml", toPath: configFile)
    }

    private func prepare() async throws {
        _ = try await git(["config", "--global", "http.sslCAInfo", sandbox.caFile])
        _ = try await lanyard(["configure", "git"])
    }

    /// The user's configuration file.
    var configFile: String { folder + "/home/.config/lanyard/config.toml" }

    /// Adds to the user's configuration; top-level keys must come first.
    func configure(before text: String) throws {
        let old = try String(contentsOfFile: configFile, encoding: .utf8)
        try (text + "\n" + old).write(toFile: configFile, atomically: true, encoding: .utf8)
    }

    /// A `$BROWSER` that signs in with the sandbox's scripted browser.
    func browser(as user: String, _ options: String = "") -> [String: String] {
        ["BROWSER": "\(Built.sandbox) sign-in --ca \(sandbox.caFile) --as \(user) \(options)"]
    }

    @discardableResult
    func git(_ arguments: [String], _ extra: [String: String] = [:], input: String = "") async throws -> Ended {
        try await run(
            "/usr/bin/git", arguments, input: input, environment: environment.merging(extra) { $1 },
            folder: folder + "/work")
    }

    @discardableResult
    func lanyard(
        _ arguments: [String], _ extra: [String: String] = [:], input: String = "", timeout: Duration = .seconds(90)
    ) async throws -> Ended {
        try await run(
            "\(folder)/bin/lanyard", arguments, input: input, environment: environment.merging(extra) { $1 },
            folder: folder + "/work", timeout: timeout)
    }

    /// `lanyard get` for a URL of the sandbox's resources.
    func get(_ path: String, _ extra: [String: String] = [:], lines: String = "") async throws -> Ended {
        try await lanyard(["get"], extra, input: "url=\(sandbox.resource)/\(path)\n\(lines)")
    }
}
