import Foundation
import TestSupport
import Testing

/// An Azure SDK that runs az, and finds lanyard.
@Suite(.enabled(if: Clients.folder != nil, "script/get tools has no SDK"))
struct AzureSDKTests {
    /// Prints azure-identity's token for a scope and, if given, a tenant.
    private static let program = """
        import sys
        from azure.identity import AzureCliCredential
        arguments = {"tenant_id": sys.argv[2]} if len(sys.argv) > 2 else {}
        try:
            token = AzureCliCredential(**arguments).get_token(sys.argv[1])
            print(token.expires_on, token.token)
        except Exception as error:
            print(type(error).__name__, error)
        """

    private static func token(
        _ world: World, scope: String = "api://sandbox-git/.default", tenant: [String] = [],
        _ extra: [String: String] = [:]
    ) async throws -> Ended {
        try await world.lanyard(
            ["exec", "--as", "azure-cli", "--", Clients.program("python"), "-c", program, scope] + tenant, extra)
    }

    private static func configure(_ world: World) throws {
        try world.configure(
            before: """
                authority = "\(world.sandbox.authority)/common"
                client-id = "\(world.sandbox.clientID)"
                """)
    }

    @Test func `azure-identity gets a token that is stored, and one for another tenant`() async throws {
        try await World.with { world in
            try Self.configure(world)
            try await world.signIn("alice@contoso.example")
            let expected = try await world.lanyard(
                ["token", "--authority", "\(world.sandbox.authority)/common", "--scope", "api://sandbox-git/.default"])
            let given = try await Self.token(world)
            #expect(given.status == 0, "\(given)")
            #expect(given.output.hasSuffix(" \(expected.output)"), "\(given)")
            let end = try #require(Double(given.output.prefix { $0 != " " }))
            #expect(end > Date.now.timeIntervalSince1970 + 300)

            let other = try await Self.token(world, tenant: ["contoso.example"])
            let direct = try await world.lanyard([
                "token", "--authority", "\(world.sandbox.authority)/contoso.example", "--scope",
                "api://sandbox-git/.default",
            ])
            #expect(other.output.hasSuffix(" \(direct.output)"), "\(other)")
        }
    }

    @Test func `without a sign-in azure-identity goes on to its next credential, and lanyard says how to sign in`()
        async throws
    {
        try await World.with { world in
            try Self.configure(world)
            let given = try await Self.token(world, world.browser(as: "alice@contoso.example"))
            #expect(given.output.hasPrefix("CredentialUnavailableError Please run 'az login'"), "\(given)")
            let direct = try await world.lanyard(["az", "account", "get-access-token", "-o", "json"])
            #expect(direct.status == 1 && direct.output.isEmpty)
            #expect(direct.errors.contains("lanyard login --authority"), "\(direct)")
            #expect(try await world.sandbox.authorityRequests().count(grant: "authorization_code") == 0)
        }
    }

    @Test func `the link is for this user alone, and other commands reach the Azure CLI that it hides`() async throws {
        try await World.with { world in
            try Self.configure(world)
            let real = world.folder + "/bin/az"
            try "#!/bin/sh\necho real \"$@\"\n".write(toFile: real, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: real)
            let shown = try await world.lanyard([
                "exec", "--as", "azure-cli", "--", "sh", "-c",
                "az repos list --top 1; az version -o=json; stat -L -c %a \"${PATH%%:*}\"; readlink -f \"$AZURE_CLI_PATH/az\"",
            ])
            let lines = shown.output.split(separator: "\n")
            #expect(lines.first == "real repos list --top 1", "\(shown)")
            #expect(shown.output.contains(#""azure-cli" : "2."#) || shown.output.contains(#""azure-cli": "2."#))
            #expect(lines.suffix(2).first == "700", "\(shown)")
            #expect(lines.last.map { $0.hasSuffix("/lanyard") } == true, "\(shown)")
        }
    }

    @Test func `without an authority nothing runs`() async throws {
        try await World.with { world in
            let refused = try await world.lanyard(["exec", "--as", "azure-cli", "--", "echo", "ran"])
            #expect(refused.status == 1 && refused.output.isEmpty)
            #expect(refused.errors.contains("lanyard config set authority"), "\(refused)")
        }
    }
}
