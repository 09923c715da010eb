import Foundation

extension World {
    /// Runs the body in a world with a rule for the sandbox's registry, with a user signed in.
    ///
    /// The registry belongs to contoso.example; it accepts guests of that tenant.
    package static func withRegistry(
        as user: String, guest: Bool = false, authority: String = "contoso.example", ownKernelKeys: Bool = false,
        _ body: @Sendable (World) async throws -> Void
    ) async throws {
        let invite: @Sendable (String) -> String = { text in
            let id = #"id = "ca801000-0000-4000-8000-00000000fab8""#
            let guest = #"guest = [{ tenant = "contoso.example", id = "ca801000-0000-4000-8000-00000000c0a7" }]"#
            return text.replacing(id, with: "\(id)\n\(guest)")
        }
        try await World.with(ownKernelKeys: ownKernelKeys, people: guest ? invite : nil) { world in
            try FileManager.default.createSymbolicLink(
                atPath: "\(world.folder)/bin/docker-credential-lanyard", withDestinationPath: Built.lanyard)
            let old = try String(contentsOfFile: world.configFile, encoding: .utf8)
            try """
            \(old)
            [[rule]]
            url = "\(world.sandbox.exchanges)"
            authority = "\(world.sandbox.authority)/\(authority)"
            client-id = "azure-cli"
            exchange = "acr"

            """.write(toFile: world.configFile, atomically: true, encoding: .utf8)
            let login = try await world.lanyard(["login", world.sandbox.exchanges], world.browser(as: user))
            guard login.status == 0 else { throw WorldError.signIn(login.description) }
            try await world.sandbox.clearLog()
            try await body(world)
        }
    }

    /// `host:port` of the registry.
    package var registry: String { String(sandbox.exchanges.dropFirst("https://".count)) }

    /// Runs docker's helper for the registry.
    package func docker(_ verb: String, _ environment: [String: String]? = nil) async throws -> Ended {
        try await runInside(
            "\(folder)/bin/docker-credential-lanyard", [verb], input: registry, environment: environment)
    }

    /// Returns how often a token was exchanged at the registry since the log was last cleared.
    package func exchanges() async throws -> Int {
        try await sandbox.requests().count { $0.path == "/oauth2/exchange" }
    }
}
