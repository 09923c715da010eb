import Foundation

/// Programs of others that ask lanyard for credentials, and servers for them.
package enum Clients {
    /// The folder that script/clients makes; nil if script/test couldn't get them.
    package static let folder = ProcessInfo.processInfo.environment["LANYARD_CLIENTS"]
    /// The folder that script/newer-clients makes, with what Debian 12 and PyPI don't have; nil unless script/consumers runs the tests.
    package static let newerFolder = ProcessInfo.processInfo.environment["LANYARD_NEWER_CLIENTS"]

    /// Whether Bazel is among the newer ones: what is in Debian sid comes and goes.
    package static let hasBazel = newerFolder != nil && FileManager.default.isExecutableFile(atPath: newer("bazel"))

    /// The folder of NuGet's library, which isn't there for every Python.
    package static let nuget = folder.map {
        $0 + "/nuget/artifacts_keyring/plugins/plugins/netcore/CredentialProvider.Microsoft"
    }.flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil }

    /// A program's path.
    package static func program(_ name: String) -> String { "\(folder ?? "")/bin/\(name)" }

    /// The path of a program that script/newer-clients gets.
    package static func newer(_ name: String) -> String { "\(newerFolder ?? "")/bin/\(name)" }
}

extension World {
    /// Links lanyard under another name, which a tool runs.
    package func link(_ name: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder)/bin/\(name)", withDestinationPath: Built.lanyard)
    }

    /// Runs a tool, by its path, in the folder `work`.
    package func tool(
        _ program: String, _ arguments: [String], _ extra: [String: String] = [:], input: String = ""
    ) async throws -> Ended {
        try await runInside(program, arguments, input: input, environment: environment.merging(extra) { $1 })
    }
}
