import Foundation

/// A real sshd on a loopback port with its own keys and settings, which accepts this user.
package struct SSHServer: Sendable {
    /// The folder of its files.
    package let folder: String
    private let port: Int
    /// The path of sshd, which must be run by its absolute path.
    package static let program = "/usr/sbin/sshd"

    /// Whether sshd and ssh are installed, and sshd can run.
    package static let isInstalled: Bool = {
        let files = FileManager.default
        if geteuid() == 0 { try? files.createDirectory(atPath: "/run/sshd", withIntermediateDirectories: true) }
        return files.isExecutableFile(atPath: program) && files.isExecutableFile(atPath: "/usr/bin/ssh")
            && (geteuid() != 0 || files.fileExists(atPath: "/run/sshd"))
    }()

    /// Runs the body while a server runs; `further` are additional lines of its settings.
    package static func with(
        _ further: String = "", in parent: String, _ body: @Sendable (SSHServer) async throws -> Void
    ) async throws {
        let folder = parent + "/sshd"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for key in ["host", "user"] {
            let made = try await TestSupport.run(
                "/usr/bin/ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", "\(folder)/\(key)"],
                environment: ["PATH": Programs.folder, "HOME": folder])
            guard made.status == 0 else { throw SSHFailure(text: made.description) }
        }
        try FileManager.default.copyItem(atPath: "\(folder)/user.pub", toPath: "\(folder)/authorized_keys")
        // If another program takes the port first, try another one.
        for _ in 0..<20 {
            let port = Int.random(in: 20_000..<60_000)
            try """
            ListenAddress 127.0.0.1
            Port \(port)
            HostKey \(folder)/host
            AuthorizedKeysFile \(folder)/authorized_keys
            PidFile none
            StrictModes no
            UsePAM no
            PermitRootLogin yes
            PasswordAuthentication no
            LogLevel ERROR
            \(further)
            """.write(toFile: "\(folder)/sshd_config", atomically: true, encoding: .utf8)
            try """
            Host devbox
                HostName 127.0.0.1
                Port \(port)
                User \(NSUserName())
                IdentityFile \(folder)/user
                IdentitiesOnly yes
                UserKnownHostsFile \(folder)/known_hosts
                StrictHostKeyChecking accept-new
                LogLevel ERROR
                BatchMode yes
            """.write(toFile: "\(folder)/ssh_config", atomically: true, encoding: .utf8)
            let arguments = ["-D", "-e", "-f", "\(folder)/sshd_config"]
            let isServed = try await TestSupport.with(
                program, arguments, environment: ["PATH": Programs.folder], endedBy: SIGTERM
            ) {
                let server = SSHServer(folder: folder, port: port)
                for _ in 0..<200 {
                    if try TCPPort.isOpen(port) {
                        // The server is ours, and accepts this user.
                        guard try await server.run("true").status == 0 else { return false }
                        try await body(server)
                        return true
                    }
                    try await Task.sleep(for: .milliseconds(25))
                }
                return false
            }.result
            if isServed { return }
        }
        throw SSHFailure(text: "sshd does not serve")
    }

    /// Returns the arguments of ssh for the host `devbox`, before the command.
    package func arguments(_ options: [String]) -> [String] { ["-F", "\(folder)/ssh_config"] + options + ["devbox"] }

    /// Runs a shell command on the server.
    package func run(_ command: String, _ options: [String] = []) async throws -> Ended {
        try await TestSupport.run(
            "/usr/bin/ssh", arguments(options) + [command], environment: ["PATH": Programs.folder, "HOME": folder])
    }
}

/// The reason why sshd didn't start.
struct SSHFailure: Error {
    let text: String
}
