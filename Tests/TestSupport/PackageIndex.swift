import Foundation

/// A real pypiserver on a loopback port, with one package and a password.
package struct PackageIndex: Sendable {
    /// The folder of its files.
    package let folder: String
    /// The server's URL.
    package let root: String
    /// The URL of the index for pip.
    package var url: String { root + "simple/" }

    /// Runs the body while an index accepts this password from any user.
    package static func with(
        password: String, in world: World, _ body: @Sendable (PackageIndex) async throws -> Void
    ) async throws {
        let folder = world.folder + "/index"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try password.write(toFile: folder + "/password", atomically: true, encoding: .utf8)
        let script = Built.checkout + "/Tests/TestSupport/Scripts/package-index"
        _ = try await TestSupport.with(
            Clients.program("python3"), [script, folder], output: folder + "/output", environment: world.environment
        ) {
            try await body(
                PackageIndex(folder: folder, root: "http://127.0.0.1:\(try await port(in: folder + "/port"))/"))
        }
    }

    /// Changes the accepted password.
    package func accept(_ password: String) throws {
        try password.write(toFile: folder + "/password", atomically: true, encoding: .utf8)
    }
}
