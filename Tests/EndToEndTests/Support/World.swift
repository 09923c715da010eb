import Foundation
import KeyringFixture

/// A home of its own for one test: a keyring on a private D-Bus, a sandbox, and git configured for lanyard.
final class World: Sendable {
    let folder: String
    let keyring: KeyringFixture
    let sandbox: Sandbox
    /// What programs run in; nobody is there to be asked.
    let environment: [String: String]

    /// Runs the body in a new world, and takes the world down whatever happens.
    static func with(
        _ state: KeyringFixture.State = .unlocked, _ body: @Sendable (World) async throws -> Void
    ) async throws {
        try await KeyringFixture.with(state) { keyring in
            let sandbox = try await Sandbox(folder: keyring.scratch.path + "/sandbox")
            defer { sandbox.stop() }
            let world = try World(keyring: keyring, sandbox: sandbox)
            try await world.prepare()
            try await body(world)
        }
    }

    private init(keyring: KeyringFixture, sandbox: Sandbox) throws {
        folder = keyring.scratch.path
        self.keyring = keyring
        self.sandbox = sandbox
        var environment = keyring.environment
        environment["PATH"] = "\(folder)/bin:/usr/bin:/bin"
        environment["GIT_CONFIG_NOSYSTEM"] = "1"
        self.environment = environment
        let files = FileManager.default
        for path in ["bin", "work", "config/lanyard"] {
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
        _ = try await lanyard(["configure", "git", "--yes"])
    }

    /// The user's configuration file.
    var configFile: String { folder + "/config/lanyard/config.toml" }

    /// Adds to the user's configuration; top-level keys must come first.
    func configure(before text: String) throws {
        let old = try String(contentsOfFile: configFile, encoding: .utf8)
        try (text + "\n" + old).write(toFile: configFile, atomically: true, encoding: .utf8)
    }

    /// Adds a rule to the user's configuration, for an authority at a path of the sandbox's.
    func configure(
        rule url: String, at path: String, client: String? = nil, scope: String = "api://sandbox-git/.default",
        _ further: String = ""
    ) throws {
        let old = try String(contentsOfFile: configFile, encoding: .utf8)
        try """
        \(old)
        [[rule]]
        url = "\(url)"
        authority = "\(sandbox.authority)/\(path)"
        client-id = "\(client ?? sandbox.clientID)"
        scopes = ["\(scope)"]
        \(further)

        """.write(toFile: configFile, atomically: true, encoding: .utf8)
    }

    /// Installs a plugin that is a shell's script, and gives the environment in which it is found.
    func install(plugin name: String, script: String, manifest further: String) throws -> [String: String] {
        let files = FileManager.default
        let place = "\(folder)/plugins/\(name)"
        try files.createDirectory(
            atPath: place, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try """
        name = "\(name)"
        version = "1"
        description = "the test's own"
        protocols = ["v1"]
        executable = "\(name)"
        flows = ["browser"]
        \(further)
        """.write(toFile: place + "/plugin.toml", atomically: true, encoding: .utf8)
        try "#!/bin/sh\n\(script)\n".write(toFile: "\(place)/\(name)", atomically: true, encoding: .utf8)
        try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: "\(place)/\(name)")
        return ["LANYARD_PLUGIN_PATH": folder + "/plugins"]
    }

    /// `lanyard get` for a token by name, at a path of the sandbox's authority.
    func get(
        at path: String, scopes: [String] = ["api://sandbox-git/.default"], client: String? = nil,
        _ extra: [String: String] = [:], lines: String = ""
    ) async throws -> Ended {
        let wish = scopes.map { "scope[]=\($0)\n" }.joined()
        return try await lanyard(
            ["get"], extra,
            input: "authority=\(sandbox.authority)/\(path)\nclient_id=\(client ?? sandbox.clientID)\n\(wish)\(lines)")
    }

    /// A `$BROWSER` that signs in with the sandbox's scripted browser.
    func browser(as user: String, _ options: String = "") -> [String: String] {
        ["BROWSER": "\(Built.sandbox) sign-in --ca \(sandbox.caFile) --as \(user) \(options)"]
    }

    @discardableResult
    func git(
        _ arguments: [String], _ extra: [String: String] = [:], input: String = "", by program: GitProgram = .system
    ) async throws -> Ended {
        try await run(
            program.path, arguments, input: input, environment: environment.merging(extra) { $1 },
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
