import Foundation

/// The programs of others that ask lanyard for credentials, which script/tool-clients gets.
package enum ToolClients {
    /// The folder with them; nil if script/test couldn't get them.
    package static let folder = ProcessInfo.processInfo.environment["LANYARD_TOOL_CLIENTS"].map { $0 + "/bin" }
    /// A cargo that knows credential providers (1.74); nil if there is none.
    package static let cargo = ProcessInfo.processInfo.environment["LANYARD_CARGO"]
}

extension World {
    /// Links lanyard under another name, which a tool runs.
    package func link(_ name: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder)/bin/\(name)", withDestinationPath: Built.lanyard)
    }

    /// Runs a tool in the folder `work`.
    package func tool(
        _ name: String, _ arguments: [String], _ extra: [String: String] = [:], input: String = ""
    ) async throws -> Ended {
        try await runInside(
            "\(ToolClients.folder ?? "")/\(name)", arguments, input: input,
            environment: environment.merging(extra) { $1 })
    }
}
