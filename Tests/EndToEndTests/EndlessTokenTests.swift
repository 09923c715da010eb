import Foundation
import TestSupport
import Testing

/// Tokens without an expiry, from a plugin whose authority is just a host.
@Suite struct EndlessTokenTests {
    /// A plugin that counts its sign-ins.
    private static func script(_ world: World) -> String {
        """
        [ "$1" = lanyard-plugin-v1 ] || exit 64
        while IFS= read -r line; do
            case $line in operation=*) operation=${line#*=} ;; '') break ;; esac
        done
        [ "$operation" = authorize ] || { printf 'event=error\\ncode=unsupported\\n\\n'; exit; }
        echo >>'\(world.folder)/sign-ins'
        printf 'event=result\\naccess_token=forge-%s\\nscope[]=repo\\nhome_account_id=7.f\\nusername=alice\\n' \\
            $(wc -l <'\(world.folder)/sign-ins')
        printf 'environment=forge.example\\nrealm=default\\nauthority_type=Other\\nbasic_username=oauth2\\n\\n'
        """
    }

    private static let url = "https://forge.example/alice/hello.git"

    /// Runs the body in a world with the plugin and a rule for it; passes the environment.
    private static func withForge(
        _ body: @escaping @Sendable (World, [String: String]) async throws -> Void
    ) async throws {
        try await World.with { world in
            try world.configure(
                after: """
                    [[rule]]
                    url = "https://forge.example"
                    authority = "https://forge.example"
                    client-id = "forge-client"
                    scopes = ["repo"]

                    """)
            var environment = try world.install(
                plugin: "forge", script: script(world),
                manifest: """
                    [[authority]]
                    hosts = ["forge.example"]
                    path = "/{path}"
                    """)
            environment["BROWSER"] = "/bin/true"
            let login = try await world.lanyard(["login", url], environment)
            try #require(login.status == 0, "\(login)")
            environment["BROWSER"] = nil
            try await body(world, environment)
        }
    }

    @Test func `one is handed out until it is refused`() async throws {
        try await Self.withForge { world, environment in
            for _ in 0..<3 {
                let answer = try await world.lanyard(["get"], environment, input: "url=\(Self.url)\n")
                #expect(answer.lines == ["username=oauth2", "password=forge-1"], "\(answer)")
            }
            let git = try await world.git(["credential", "fill"], environment, input: "url=\(Self.url)\n")
            #expect(git.lines.contains("username=oauth2") && git.lines.contains("password=forge-1"), "\(git)")
            let erased = try await world.lanyard(
                ["erase"], environment, input: "url=\(Self.url)\nusername=oauth2\npassword=forge-1\n")
            #expect(erased.status == 0, "\(erased)")
            let refused = try await world.lanyard(["get"], environment, input: "url=\(Self.url)\n")
            #expect(refused.status == 2 && refused.hasNoCredential, "\(refused)")
            let again = try await world.lanyard(
                ["get"], environment.merging(["BROWSER": "/bin/true"]) { $1 }, input: "url=\(Self.url)\n")
            #expect(again.lines == ["username=oauth2", "password=forge-2"], "\(again)")
        }
    }

    @Test func `commands say that nobody knows its end`() async throws {
        try await Self.withForge { world, environment in
            let listed = try await world.lanyard(["cache", "list"], environment)
            #expect(listed.output.contains("valid until it is revoked"), "\(listed)")
            let explained = try await world.lanyard(["explain", Self.url], environment)
            #expect(explained.output.contains("access token, valid until it is revoked"), "\(explained)")
            let token = try await world.lanyard(["token", "--json", Self.url], environment)
            #expect(!token.output.contains("xpires"), "\(token)")
            let run = try await world.lanyard(
                ["exec", Self.url, "--", "/bin/sh", "-c", #"echo "$LANYARD_ACCESS_TOKEN<$LANYARD_TOKEN_EXPIRES_ON>""#],
                environment.merging(["LANYARD_TOKEN_EXPIRES_ON": "an outer command's"]) { $1 })
            #expect(run.lines == ["forge-1<>"], "\(run)")
        }
    }
}
