import Foundation
import SystemPackage

/// One process that serves every sandbox of a run: each has a folder, ports, people, faults and a log of its own.
///
/// What they share is what takes long to make: the process, the keys and the certificates.
package actor SandboxPool {
    private static let shared = SandboxPool()
    private var commands: FileDescriptor?

    /// Runs the body with a sandbox in a folder; users of its own are those that the folder's users.toml names.
    package static func with<Result: Sendable>(
        folder: String, _ body: @Sendable (SandboxDescription) async throws -> Result
    ) async throws -> Result {
        let description = try await start(in: folder)
        do {
            let result = try await body(description)
            try await stop(in: folder)
            return result
        } catch {
            try? await stop(in: folder)
            throw error
        }
    }

    /// Starts a sandbox in a folder and waits until it serves.
    package static func start(in folder: String) async throws -> SandboxDescription {
        try await shared.tell("start \(folder)")
        return try await SandboxDescription(at: folder)
    }

    /// Ends the sandbox in a folder, and waits until its ports are closed; nothing if it has ended already.
    package static func stop(in folder: String) async throws {
        try await shared.tell("stop \(folder)")
        for _ in 0..<1000 where FileManager.default.fileExists(atPath: folder + "/sandbox.json") {
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private func tell(_ command: String) throws {
        let commands = try self.commands ?? launch()
        self.commands = commands
        try commands.writeAll("\(command)\n".utf8)
    }

    /// Starts the process, which ends when this one does: that closes its input.
    private func launch() throws -> FileDescriptor {
        // A child of another test's must not keep it open.
        let pipe = try FileDescriptor.pipe(options: .closeOnExec)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Built.sandbox)
        process.arguments = ["serve", "--directories-from-stdin"]
        process.environment = ["PATH": "/usr/bin:/bin"]
        process.standardInput = FileHandle(fileDescriptor: pipe.readEnd.rawValue, closeOnDealloc: true)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return pipe.writeEnd
    }
}
