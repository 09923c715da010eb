import Foundation

/// A server for files over HTTPS or gRPC calls on a loopback port, which requires an `Authorization` header.
package struct GuardedServer: Sendable {
    /// The kind of server.
    package enum Kind: String, Sendable {
        /// Serves the files added with `put`.
        case files
        /// Gives every call the same answer; it needs the programs from script/get tools.
        case calls
    }

    /// The server's URL, without a path.
    package let url: String
    /// The certificate to trust.
    package var caFile: String { folder + "/ca.pem" }
    private let folder: String

    /// Runs the server in a folder while the body runs.
    package static func serve(
        _ kind: Kind, in folder: String, _ body: @Sendable (GuardedServer) async throws -> Void
    ) async throws {
        try FileManager.default.createDirectory(atPath: folder + "/files", withIntermediateDirectories: true)
        let script = "\(Built.checkout)/Tests/TestSupport/Scripts/guarded-\(kind)"
        let python = kind == .files ? "/usr/bin/python3" : Clients.program("python3")
        _ = try await with(
            python, [script, folder],
            environment: ["PATH": Programs.folder, "HOME": folder, "LANG": "C.UTF-8"]
        ) {
            try await body(
                GuardedServer(url: "https://localhost:\(try await port(in: folder + "/port"))", folder: folder))
        }
    }

    /// Adds a file.
    package func put(_ text: String, at path: String) throws { try put(Array(text.utf8), at: path) }

    /// Adds a file.
    package func put(_ bytes: [UInt8], at path: String) throws {
        let file = URL(filePath: "\(folder)/files/\(path)")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
    }

    /// Sets the required `Authorization` header; if it is empty, none is required.
    package func guarded(by authorization: String, challenge: String? = nil) throws {
        try authorization.write(toFile: folder + "/authorization", atomically: true, encoding: .utf8)
        try challenge?.write(toFile: folder + "/challenge", atomically: true, encoding: .utf8)
    }

    /// Returns the status and path of each request so far, and clears the log.
    package func readLog() throws -> [String] { read("log") }

    /// Returns the headers so far that may say who asks, and forgets them.
    package func readSent() throws -> [String] { read("sent") }

    private func read(_ name: String) -> [String] {
        let lines = try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
        try? FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        return (lines ?? "").split(separator: "\n").map(String.init)
    }
}
