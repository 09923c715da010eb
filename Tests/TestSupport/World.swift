import Foundation

// A release build of everything has no such module.
#if canImport(Testing)
    import Testing
#endif

/// The environment of one test: a home with a keyring on a private D-Bus, a sandbox, and git configured for lanyard.
package final class World: Sendable {
    /// The folder that contains everything.
    package let folder: String
    /// The keyring.
    package let keyring: KeyringFixture
    /// The sandbox, with the authority and the resources.
    package let sandbox: Sandbox
    /// The environment for programs, in which no user can be asked.
    package let environment: [String: String]
    private let kernelKeys: KernelKeys?
    /// The command prefix that gives a program this world's kernel keys; nil if all programs have them.
    package var kernelKeysCommand: [String]? { kernelKeys?.command }

    /// Runs the body in a new world, and removes the world in any case.
    ///
    /// All lanyard processes of a user share the kernel key for cached answers, so one test can invalidate the cached
    /// answers of another. With `ownKernelKeys`, a world's processes share keys only with each other, and a test for which
    /// that is impossible is skipped. `people` changes the sandbox's users file.
    package static func with(
        _ state: KeyringFixture.State = .usual, ownKernelKeys: Bool = false,
        people: (@Sendable (String) -> String)? = nil, _ body: @Sendable (World) async throws -> Void
    ) async throws {
        if ownKernelKeys, !Namespaces.areAvailable {
            #if canImport(Testing) && compiler(>=6.3)
                try Test.cancel("this user may make no namespaces")
            #endif
        }
        try await KeyringFixture.with(state) { keyring in
            let sandbox = try await Sandbox(folder: keyring.scratch.path + "/sandbox", people: people)
            let keys = ownKernelKeys ? try KernelKeys() : nil
            defer { keys?.release() }
            let result: Result<Void, any Error>
            do {
                let world = try World(keyring: keyring, sandbox: sandbox, keys)
                try await world.prepare()
                result = .success(try await body(world))
            } catch {
                result = .failure(error)
            }
            await sandbox.stop()
            try result.get()
        }
    }

    private init(keyring: KeyringFixture, sandbox: Sandbox, _ keys: KernelKeys?) throws {
        folder = keyring.scratch.path
        self.keyring = keyring
        self.sandbox = sandbox
        kernelKeys = keys
        var environment = keyring.environment
        environment["PATH"] = "\(folder)/bin:\(Programs.folder)"
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
        // Tests that replace the rules keep what stands before them.
        try rules(of: [sandbox.resource]).replacing("[[rule]]\n", with: keyringTable + "[[rule]]\n", maxReplacements: 1)
            .write(toFile: configFile, atomically: true, encoding: .utf8)
    }

    /// Returns the sandbox's configuration, with the rules for these hosts only.
    private func rules(of hosts: [String]) throws -> String {
        let parts = try String(contentsOfFile: sandbox.folder + "/config.toml", encoding: .utf8)
            .components(separatedBy: "[[rule]]\n")
        let kept = parts.dropFirst().filter { rule in
            hosts.contains { rule.contains("url = \"\($0)/") || rule.contains("url = \"\($0)\"") }
        }
        return (parts.prefix(1) + kept).joined(separator: "[[rule]]\n")
    }

    private func prepare() async throws {
        for (path, text) in try await GitSettings.shared.files(of: self) {
            let file = URL(filePath: "\(folder)/home/\(path)")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
    }

    /// The path of `configure git`'s record, relative to the home.
    package static let gitRecordPath = ".local/state/lanyard/git-changes.json"

    /// What a configuration file has to say of the keyring, after its top-level keys.
    package var keyringTable: String { keyring.state == .sealed ? "[keyring]\nkind = \"sealed\"\n\n" : "" }

    /// The path of the user's configuration file.
    package var configFile: String { folder + "/config/lanyard/config.toml" }

    /// Adds text to the start of the user's configuration, where top-level keys must be.
    package func configure(before text: String) throws {
        let old = try String(contentsOfFile: configFile, encoding: .utf8)
        try (text + "\n" + old).write(toFile: configFile, atomically: true, encoding: .utf8)
    }

    /// Adds text to the end of the user's configuration.
    package func configure(after text: String) throws {
        let old = try String(contentsOfFile: configFile, encoding: .utf8)
        try (old + "\n" + text).write(toFile: configFile, atomically: true, encoding: .utf8)
    }

    /// Adds the sandbox's own rules for these code hosts.
    package func configure(hosts: [SandboxDescription.Host]) throws {
        let rules = try rules(of: hosts.map(\.url)).split(separator: "[[rule]]\n").dropFirst()
        try configure(after: rules.map { "[[rule]]\n\($0)" }.joined(separator: "\n"))
    }

    /// Adds a rule for an authority at a path of the sandbox to the user's configuration.
    package func configure(
        rule url: String, at path: String, client: String? = nil, scope: String = "api://sandbox-git/.default",
        _ further: String = ""
    ) throws {
        try configure(
            after: """
                [[rule]]
                url = "\(url)"
                authority = "\(sandbox.authority)/\(path)"
                client-id = "\(client ?? sandbox.clientID)"
                scopes = ["\(scope)"]
                \(further)

                """)
    }

    /// Adds a rule for the sandbox's issuer of OpenID Connect to the user's configuration.
    package func configureIssuer(client: String? = nil, scopes: [String], _ further: String = "") throws {
        let issuer = sandbox.issuer
        try configure(
            after: """
                [[rule]]
                url = "\(issuer.url)"
                authority = "\(issuer.url)"
                client-id = "\(client ?? issuer.clientID)"
                scopes = \(scopes)
                \(further)

                """)
    }

    /// Removes all rules from the user's configuration, except for a path of the sandbox.
    package func configure(onlyRuleFor path: String) throws {
        let parts = try String(contentsOfFile: configFile, encoding: .utf8).components(separatedBy: "[[rule]]\n")
        let kept = parts.dropFirst().filter { $0.contains("url = \"\(sandbox.resource)/\(path)\"\n") }
        guard kept.count == 1 else { throw WorldError.rules(parts.joined()) }
        try (parts.prefix(1) + kept).joined(separator: "[[rule]]\n")
            .write(toFile: configFile, atomically: true, encoding: .utf8)
    }

    /// Installs a shell script as a plugin, and returns the environment in which lanyard finds it.
    package func install(plugin name: String, script: String, manifest further: String) throws -> [String: String] {
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
        \(further)
        """.write(toFile: place + "/plugin.toml", atomically: true, encoding: .utf8)
        try "#!/bin/sh\n\(script)\n".write(toFile: "\(place)/\(name)", atomically: true, encoding: .utf8)
        try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: "\(place)/\(name)")
        return ["LANYARD_PLUGIN_PATH": folder + "/plugins"]
    }

    /// Runs `lanyard get` for a token at a path of the sandbox's authority.
    package func get(
        at path: String, scopes: [String] = ["api://sandbox-git/.default"], client: String? = nil,
        _ extra: [String: String] = [:], lines: String = ""
    ) async throws -> Ended {
        let explicit = scopes.map { "scope[]=\($0)\n" }.joined()
        return try await lanyard(
            ["get"], extra,
            input:
                "authority=\(sandbox.authority)/\(path)\nclient_id=\(client ?? sandbox.clientID)\n\(explicit)\(lines)")
    }

    /// Returns a `$BROWSER` that signs in with the sandbox's scripted browser.
    package func browser(as user: String, _ options: String = "") -> [String: String] {
        ["BROWSER": "'\(Built.sandbox)' sign-in --ca \(sandbox.caFile) --as \(user) \(options)"]
    }

    /// Returns a `$BROWSER` that declines, and records each run in `asked`.
    package func decliningBrowser(as user: String) throws -> [String: String] {
        let browser = "\(folder)/bin/browser"
        try """
        #!/bin/sh
        echo asked >>'\(folder)/asked'
        exec '\(Built.sandbox)' sign-in --ca '\(sandbox.caFile)' --as \(user) --decline "$@"
        """.write(toFile: browser, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: browser)
        return ["BROWSER": browser]
    }

    /// One line for each time that the declining browser was opened.
    package var asked: String { (try? String(contentsOfFile: folder + "/asked", encoding: .utf8)) ?? "" }

    /// Runs git in the folder `work`.
    @discardableResult
    package func git(
        _ arguments: [String], _ extra: [String: String] = [:], input: String = "", by program: GitProgram = .system
    ) async throws -> Ended {
        try await runInside(program.path, arguments, input: input, environment: environment.merging(extra) { $1 })
    }

    /// Runs lanyard in the folder `work`.
    @discardableResult
    package func lanyard(
        _ arguments: [String], _ extra: [String: String] = [:], input: String = "", timeout: Duration = .seconds(90)
    ) async throws -> Ended {
        try await runInside(
            "\(folder)/bin/lanyard", arguments, input: input, environment: environment.merging(extra) { $1 },
            timeout: timeout)
    }

    /// Runs any program in the folder `work`, with this world's kernel keys.
    @discardableResult
    package func runInside(
        _ program: String, _ arguments: [String], input: String = "", environment: [String: String]? = nil,
        timeout: Duration = .seconds(90)
    ) async throws -> Ended {
        let command = (kernelKeys?.command ?? []) + [program] + arguments
        return try await TestSupport.run(
            command[0], Array(command.dropFirst()), input: input, environment: environment ?? self.environment,
            folder: folder + "/work", timeout: timeout)
    }

    /// Runs `lanyard get` for a URL of the sandbox's resources.
    package func get(_ path: String, _ extra: [String: String] = [:], lines: String = "") async throws -> Ended {
        try await lanyard(["get"], extra, input: "url=\(sandbox.resource)/\(path)\n\(lines)")
    }
}

/// The git settings of worlds and the record of them: the first world runs the command that creates them, and all
/// others copy them.
private actor GitSettings {
    static let shared = GitSettings()
    private static let paths = [".gitconfig", World.gitRecordPath]
    private var made: Task<[String], any Error>?

    /// Returns the files' paths in the home, and their contents.
    func files(of world: World) async throws -> [(path: String, text: String)] {
        let task =
            made
            ?? Task {
                _ = try await world.git(["config", "--global", "http.sslCAInfo", world.sandbox.caFile])
                _ = try await world.lanyard(["configure", "git", "--yes"])
                return try Self.paths.map { path in
                    let text = try String(contentsOfFile: "\(world.folder)/home/\(path)", encoding: .utf8)
                    return Self.parts(of: world).reduce(text) { $0.replacing($1.value, with: $1.placeholder) }
                }
            }
        made = task
        let texts = try await task.value.map { text in
            Self.parts(of: world).reduce(text) { $0.replacing($1.placeholder, with: $1.value) }
        }
        return zip(Self.paths, texts).map { ($0, $1) }
    }

    /// Returns the texts that differ between worlds, with their placeholders.
    private static func parts(of world: World) -> [(value: String, placeholder: String)] {
        [(world.folder, "@FOLDER@"), (world.sandbox.resource, "@RESOURCE@")]
    }
}
