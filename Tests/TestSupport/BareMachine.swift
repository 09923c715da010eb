import Foundation

/// A Debian that script/get systems has unpacked.
package struct BareSystem: Sendable, CustomStringConvertible {
    /// The name of its suite.
    package let description: String
    let folder: String

    /// All of them, unless namespaces are forbidden; none unless `script/test --with systems` runs the tests.
    package static let all: [BareSystem] = {
        guard let folder = ProcessInfo.processInfo.environment["LANYARD_SYSTEMS"], Namespaces.areAvailable else {
            return []
        }
        return ["trixie", "sid"].map { BareSystem(description: $0, folder: "\(folder)/\($0)") }.filter {
            FileManager.default.fileExists(atPath: "\($0.folder)/complete")
        }
    }()
}

/// A machine with such a system, on which Alice has lanyard, the rules of a world's sandbox, and neither a bus nor a
/// keyring service; systemd's credentials service runs there.
package struct BareMachine: Sendable {
    /// The folder of what is this machine's own; Alice's home is in it.
    package let folder: String
    private let system: BareSystem
    private let environment: [String: String]

    /// The folder of Alice's home.
    package var home: String { folder + "/home/alice" }

    /// Runs the body with a new machine in a world's folder.
    ///
    /// Without a TPM, systemd keeps no secret in memory, where that folder is.
    package static func with(
        _ system: BareSystem, in world: World, _ body: (BareMachine) async throws -> Void
    ) async throws {
        let disk = "/var/tmp/lanyard-test-\(UUID())"
        try FileManager.default.createDirectory(
            atPath: disk, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: disk) }
        let machine = try BareMachine(system, in: world)
        try FileManager.default.createSymbolicLink(atPath: machine.folder + "/var", withDestinationPath: disk)
        try await body(machine)
    }

    private init(_ system: BareSystem, in world: World) throws {
        self.system = system
        folder = world.folder + "/machine"
        environment = [
            "PATH": "\(folder)/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/home/alice", "USER": "alice",
            "LANG": "C.UTF-8", "XDG_RUNTIME_DIR": "/run/user/\(getuid())", "TERM": "xterm",
            "TPM2TOOLS_TCTI": "swtpm:path=/run/tpm/socket", "SSH_CONNECTION": "192.0.2.1 40000 192.0.2.2 22",
        ]
        let files = FileManager.default
        for (place, text) in [
            (".config/lanyard/config.toml", try String(contentsOfFile: world.configFile, encoding: .utf8)),
            (".gitconfig", "[http]\n    sslCAInfo = \(world.sandbox.caFile)\n"),
        ] {
            let path = "\(home)/\(place)"
            try files.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            try text.write(toFile: path, atomically: true, encoding: .utf8)
        }
        try files.createDirectory(atPath: folder + "/bin", withIntermediateDirectories: true)
        for name in ["lanyard", "git-credential-lanyard"] {
            try files.createSymbolicLink(atPath: "\(folder)/bin/\(name)", withDestinationPath: Built.lanyard)
        }
    }

    /// Returns the text of the slot of the machine's sealed keyring.
    package func slot(_ kind: String) throws -> String {
        let keyrings = home + "/.local/state/lanyard/keyring"
        let names = try FileManager.default.contentsOfDirectory(atPath: keyrings)
        return try String(contentsOfFile: "\(keyrings)/\(names.joined())/slot.\(kind)", encoding: .utf8)
    }

    private static let script = Built.checkout + "/Tests/TestSupport/Scripts/bare-system"

    /// Boots the machine, which may have a TPM, and runs the body until it is shut down.
    package func boot(hasTPM: Bool, _ body: @Sendable () async throws -> Void) async throws {
        let run = folder + "/run"
        try? FileManager.default.removeItem(atPath: run)
        let arguments = [system.folder, folder, "service"] + (hasTPM ? ["tpm"] : [])
        _ = try await TestSupport.with(Self.script, arguments, environment: environment, endedBy: SIGTERM) {
            for place in ["systemd/io.systemd.Credentials"] + (hasTPM ? ["tpm/socket"] : []) {
                try await World.wait(for: "\(run)/\(place)")
            }
            try await body()
        }
    }

    /// Runs a shell script of Alice's, at a terminal if there is a dialogue.
    ///
    /// The kernel keeps her keys until it ends.
    package func run(
        _ script: String, answering dialogue: [(question: String, answer: String)]? = nil,
        _ extra: [String: String] = [:]
    ) async throws -> Ended {
        var command = [Self.script, system.folder, folder, "user", "/bin/sh", "-c", "cd && \(script)"]
        if let dialogue {
            let words = dialogue.flatMap { [$0.question, $0.answer] }
            command = [Built.checkout + "/Tests/TestSupport/Scripts/at-terminal"] + words + ["--"] + command
        }
        return try await TestSupport.run(
            command[0], Array(command.dropFirst()), environment: environment.merging(extra) { $1 }, folder: folder)
    }
}
