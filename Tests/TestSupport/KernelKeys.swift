import Foundation

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

/// The kernel permits no user namespace.
struct NoNamespace: Error {}
