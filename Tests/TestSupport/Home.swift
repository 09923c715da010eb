import Foundation

/// A clean home directory with lanyard on `PATH`, for tests without a sandbox.
package struct Home: Sendable {
    /// The folder that contains everything.
    package let folder: String
    /// The environment for programs, in which no user can be asked.
    package let environment: [String: String]

    /// Runs the body in a home without a keyring, or with one in a given state.
    package static func with(
        _ state: KeyringFixture.State = .noBus, _ body: @Sendable (Home) async throws -> Void
    ) async throws {
        try await KeyringFixture.with(state) { keyring in
            try await body(try Home(keyring))
        }
    }

    private init(_ keyring: KeyringFixture) throws {
        folder = keyring.scratch.path
        var environment = keyring.environment
        environment["PATH"] = "\(folder)/bin:\(Programs.folder)"
        environment["GIT_CONFIG_NOSYSTEM"] = "1"
        environment["TERM"] = "dumb"
        self.environment = environment
        let files = FileManager.default
        try files.createDirectory(atPath: folder + "/bin", withIntermediateDirectories: true)
        for name in ["lanyard", "git-credential-lanyard"] {
            try files.createSymbolicLink(atPath: "\(folder)/bin/\(name)", withDestinationPath: Built.lanyard)
        }
    }

    /// Returns the same home with changed variables.
    package func with(_ variables: [String: String]) -> Home {
        Home(folder: folder, environment: environment.merging(variables) { $1 })
    }

    private init(folder: String, environment: [String: String]) {
        self.folder = folder
        self.environment = environment
    }

    /// The path of the user's git configuration.
    package var gitFile: String { folder + "/home/.gitconfig" }
    /// The path of the user's configuration file.
    package var configFile: String { folder + "/config/lanyard/config.toml" }

    /// Returns a file's text.
    package func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    /// Writes a file and creates its folder.
    package func write(_ text: String, to path: String) throws {
        let folder = (path as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    /// Writes a shell script as a program.
    package func program(_ name: String, _ script: String) throws {
        try write("#!/bin/sh\n\(script)\n", to: "\(folder)/bin/\(name)")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(folder)/bin/\(name)")
    }

    /// Runs lanyard in the user's home.
    @discardableResult
    package func lanyard(
        _ arguments: [String], _ extra: [String: String] = [:], input: String = ""
    ) async throws -> Ended {
        try await run(
            "\(folder)/bin/lanyard", arguments, input: input, environment: environment.merging(extra) { $1 },
            folder: folder + "/home")
    }

    /// Installs a git that claims to be another release.
    package func pretendGit(_ version: String) throws {
        try program("git", "[ \"$1\" = --version ] && exec echo 'git version \(version)'\nexec /usr/bin/git \"$@\"")
    }

    /// Runs lanyard at a terminal and types each answer when its question appears; `output` is everything on the
    /// screen.
    package func lanyardAtTerminal(_ arguments: [String], _ dialogue: [(question: String, answer: String)]) async throws
        -> Ended
    {
        let script = dialogue.flatMap { [$0.question, $0.answer] }
        return try await run(
            "\(Built.checkout)/Tests/TestSupport/Scripts/at-terminal", script + ["--", "lanyard"] + arguments,
            environment: environment, folder: folder + "/home")
    }

    /// Runs git in the user's home.
    @discardableResult
    package func git(_ arguments: [String]) async throws -> Ended {
        try await run("/usr/bin/git", arguments, environment: environment, folder: folder + "/home")
    }
}
