import Foundation

/// Namespaces of users, mounts and processes, which a machine's settings or a container may forbid.
package enum Namespaces {
    /// The options of unshare(1) that make the user root in a new namespace; none for root, who needs none.
    package static let asRoot = geteuid() == 0 ? [] : ["--map-root-user"]
    /// Whether they can be made.
    package static let areAvailable: Bool = {
        let unshare = Process()
        unshare.executableURL = URL(filePath: "/usr/bin/unshare")
        unshare.arguments = [
            "--map-root-user", "--pid", "--fork", "--mount-proc", "mount", "-t", "tmpfs", "none", "/var/opt",
        ]
        unshare.environment = ["PATH": "/usr/bin:/bin"]
        unshare.standardError = FileHandle.nullDevice
        guard (try? unshare.run()) != nil else { return false }
        unshare.waitUntilExit()
        return unshare.terminationStatus == 0
    }()
}

/// A user namespace, whose users have kernel keyrings of their own; Seclusion creates and enters it.
final class KernelKeys: Sendable {
    private let holder: Process
    private let input: Pipe

    init() throws {
        input = Pipe()
        let output = Pipe()
        holder = Process()
        holder.executableURL = URL(fileURLWithPath: Built.folder + "/Seclusion")
        holder.arguments = ["hold"]
        holder.standardInput = input
        holder.standardOutput = output
        holder.standardError = FileHandle.nullDevice
        try holder.run()
        guard try output.fileHandleForReading.read(upToCount: 1) != nil else { throw NoNamespace() }
    }

    /// The command prefix that gives a program these keys.
    var command: [String] { [Built.folder + "/Seclusion", "enter=\(holder.processIdentifier)"] }

    func release() {
        // Not SIGTERM: the threads of Swift's tasks block it, and so do their children.
        kill(holder.processIdentifier, SIGKILL)
    }
}

/// The namespace can't be made.
struct NoNamespace: Error {}
