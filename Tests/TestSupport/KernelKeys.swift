import Foundation

/// A user namespace, whose users have kernel keyrings of their own; Seclusion makes it and goes into it.
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

    /// What a program is run by that is to have these keys.
    var command: [String] { [Built.folder + "/Seclusion", "enter=\(holder.processIdentifier)"] }

    func release() {
        // Not SIGTERM, which the threads of Swift's tasks, and so their children, have blocked.
        kill(holder.processIdentifier, SIGKILL)
    }
}

/// The kernel makes no user namespace for us.
struct NoNamespace: Error {}
