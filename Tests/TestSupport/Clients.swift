import Foundation

/// Third-party programs that get credentials from lanyard, and servers for them.
package enum Clients {
    /// The folder that script/get tools creates; nil if script/test couldn't get the programs.
    package static let folder = ProcessInfo.processInfo.environment["LANYARD_CLIENTS"]
    /// The folder that script/get newer-tools creates, with programs that Debian 12 and PyPI lack; nil unless
    /// script/test --with newer-tools runs the tests.
    package static let newerFolder = ProcessInfo.processInfo.environment["LANYARD_NEWER_CLIENTS"]

    /// Whether Bazel is among the newer programs; packages in Debian sid come and go.
    package static let hasBazel = newerFolder != nil && FileManager.default.isExecutableFile(atPath: newer("bazel"))

    /// The folder of NuGet's library; nil if it doesn't exist for this version of Python.
    package static let nuget = folder.map {
        $0 + "/nuget/artifacts_keyring/plugins/plugins/netcore/CredentialProvider.Microsoft"
    }.flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil }

    /// Stands in for a folder that wasn't created: the system's own programs are not those that tests ask for.
    private static let none = "/nonexistent"

    /// Returns a program's path.
    package static func program(_ name: String) -> String { "\(folder ?? none)/bin/\(name)" }

    /// Returns the path of a program from script/get newer-tools.
    package static func newer(_ name: String) -> String { "\(newerFolder ?? none)/bin/\(name)" }
}

extension World {
    /// Links lanyard under the name that a tool runs.
    package func link(_ name: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder)/bin/\(name)", withDestinationPath: Built.lanyard)
    }

    /// Runs a tool by its path, in the folder `work`.
    package func tool(
        _ program: String, _ arguments: [String], _ extra: [String: String] = [:], input: String = ""
    ) async throws -> Ended {
        try await runInside(program, arguments, input: input, environment: environment.merging(extra) { $1 })
    }
}
