import Foundation

/// A real container registry in a world, which knows alice by a password: Debian's docker-registry on a loopback port.
package struct ImageRegistry: Sendable {
    /// The registry's authentication method.
    package enum Authentication: Sendable {
        /// The password is sent with each request.
        case password
        /// A separate service issues tokens for the password.
        case tokens
    }

    package static let password = "correct-horse"
    package let world: World
    /// The registry's name, as docker writes it.
    package let name: String

    /// Runs the body in a world with a registry.
    package static func with(
        _ authentication: Authentication, _ body: @escaping @Sendable (ImageRegistry) async throws -> Void
    ) async throws {
        try await World.with { world in
            try world.link("docker-credential-lanyard")
            let folder = world.folder + "/registry"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            switch authentication {
            case .password:
                // The bcrypt hash of the password.
                try "alice:$2b$04$abcdefghijklmnopqrstuuPoaPXzWjiVz4HaNq2LJXksWbO79E.S6\n".write(
                    toFile: folder + "/users", atomically: true, encoding: .utf8)
                try await serve(in: folder, of: world, "htpasswd: {realm: test, path: \(folder)/users}", body)
            case .tokens:
                try await withTokens(in: folder) { url in
                    try await serve(
                        in: folder, of: world,
                        "token: {realm: \"\(url)\", service: test, issuer: test, rootcertbundle: \(folder)/tokens.pem}",
                        body)
                }
            }
        }
    }

    /// Runs the body while a service issues tokens at a URL.
    private static func withTokens(in folder: String, _ body: (String) async throws -> Void) async throws {
        try password.write(toFile: folder + "/password", atomically: true, encoding: .utf8)
        let script = Built.checkout + "/Tests/TestSupport/Scripts/registry-tokens"
        _ = try await TestSupport.with(
            Clients.program("python3"), [script, folder], environment: ["PATH": Programs.folder, "HOME": folder]
        ) {
            try await body("http://localhost:\(try await port(in: folder + "/token-port"))/token")
        }
    }

    private static func serve(
        in folder: String, of world: World, _ authentication: String, _ body: (ImageRegistry) async throws -> Void
    ) async throws {
        try """
        version: 0.1
        storage: {filesystem: {rootdirectory: \(folder)/images}}
        http: {addr: "127.0.0.1:0"}
        auth: {\(authentication)}

        """.write(toFile: folder + "/config.yml", atomically: true, encoding: .utf8)
        let command = "exec \(Clients.program("docker-registry")) serve \(folder)/config.yml 2>&1"
        _ = try await TestSupport.with(
            "/bin/sh", ["-c", command], output: folder + "/log",
            environment: ["PATH": Programs.folder, "HOME": folder, "OTEL_TRACES_EXPORTER": "none"]
        ) {
            let number = try await port(in: folder + "/log", after: "listening on 127.0.0.1:")
            try await body(ImageRegistry(world: world, name: "localhost:\(number)"))
        }
    }

    /// Runs the helper as docker does.
    package func helper(_ verb: String, _ input: String) async throws -> Ended {
        try await world.runInside("\(world.folder)/bin/docker-credential-lanyard", [verb], input: input)
    }

    /// Returns the status and scopes of each token request.
    package func tokenLog() throws -> [String] {
        try String(contentsOfFile: world.folder + "/registry/token-log", encoding: .utf8)
            .split(separator: "\n").map(String.init)
    }
}
