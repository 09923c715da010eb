import Foundation
import SystemPackage

/// One process that runs all sandboxes of a test run; each has its own folder, ports, users, faults and log.
///
/// They share what takes long to create: the process, the keys and the certificates.
package actor SandboxPool {
    private static let shared = SandboxPool()
    private var running: (process: Process, commands: FileDescriptor)?

    /// Runs the body with a sandbox in a folder; if the folder has a users.toml, it defines the users.
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

    /// Starts a sandbox in a folder and waits until it is ready.
    package static func start(in folder: String) async throws -> SandboxDescription {
        try await shared.tell("start \(folder)")
        return try await SandboxDescription(at: folder)
    }

    /// Stops the sandbox in a folder and waits until its ports are closed; does nothing if it has already stopped.
    package static func stop(in folder: String) async throws {
        try await shared.tell("stop \(folder)")
        for _ in 0..<1000 where FileManager.default.fileExists(atPath: folder + "/sandbox.json") {
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private func tell(_ command: String) throws {
        // If it crashed, only the tests that used it then fail.
        if let running, !running.process.isRunning {
            try running.commands.close()
            self.running = nil
        }
        let running = try self.running ?? launch()
        self.running = running
        try running.commands.writeAll("\(command)\n".utf8)
    }

    /// Starts the process, which exits with this one because its input is closed then.
    private func launch() throws -> (Process, FileDescriptor) {
        // The child of another test must not keep the pipe open.
        let pipe = try FileDescriptor.pipe(options: .closeOnExec)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Built.sandbox)
        process.arguments = ["serve", "--directories-from-stdin"]
        process.environment = ["PATH": Programs.folder]
        process.standardInput = FileHandle(fileDescriptor: pipe.readEnd.rawValue, closeOnDealloc: true)
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        return (process, pipe.writeEnd)
    }
}
