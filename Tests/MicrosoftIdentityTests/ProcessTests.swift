import Foundation
import PluginConformance
import PluginHost
import PluginWire
import Testing

/// `lanyard-authority` as the host starts it: manifests, processes and pipes.
@Suite(.serialized)
struct ProcessTests {
    private static let checkout = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path
    private static let environment = ["LANYARD_PLUGIN_PATH": "\(checkout)/plugins", "PATH": "/usr/bin:/bin"]
    private static let registry = PluginRegistry.discover(
        environment: environment,
        executable: URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "lanyard").path)

    @Test func `the manifests are sound and name the plugins`() {
        #expect(registry.problems.isEmpty)
        #expect(Set(registry.plugins.map(\.name)).isSuperset(of: ["aad-common", "aad-tenant", "aad-b2c", "oauth"]))
    }

    private var registry: PluginRegistry { Self.registry }

    @Test(arguments: [
        ("https://login.microsoftonline.com/common", "aad-common", true),
        ("https://login.windows.net/organizations", "aad-common", true),
        ("https://login.microsoftonline.com/contoso.com", "aad-tenant", true),
        ("https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/B2C_1_susi", "aad-b2c", true),
        ("https://contoso.b2clogin.com/contoso.onmicrosoft.com/Custom", "aad-b2c", true),
        ("https://login.microsoftonline.com/tfp/contoso.onmicrosoft.com/B2C_1_susi", "aad-b2c", true),
        ("https://login.contoso.com/t/b2c_1_susi", "aad-b2c", false),
        ("https://localhost:4711/common", "aad-common", false), ("https://localhost:4711/contoso", "aad-tenant", false),
        ("https://localhost:4711/realms/acme", "oauth", false), ("https://gitlab.com", "oauth", true),
    ])
    func `authorities are routed to their plugin`(_ authority: String, _ plugin: String, _ builtIn: Bool) {
        #expect(registry.match(authority: authority, isConfigured: true)?.plugin.name == plugin)
        #expect((registry.match(authority: authority, isConfigured: false) != nil) == builtIn)
    }

    @Test(arguments: ["aad-common", "aad-tenant", "aad-b2c", "oauth", "google", "managed-identity", "entra-broker"])
    func `the built plugins keep to the protocol`(_ name: String) async throws {
        let manifest = try #require(registry.plugins.first { $0.name == name })
        let trials = await ConformanceKit(manifest, environment: Self.environment).run()
        #expect(trials.filter { $0.fault != nil } == [])
    }

    @Test func `a user signs in and a token is renewed through the process`() async throws {
        try await Sandbox.run { sandbox in
            let host = PluginRunner(environment: Self.environment)
            let match = try #require(Self.registry.match(authority: "\(sandbox.authority)/common", isConfigured: true))
            let user = User(sandbox: sandbox)
            let first = try await host.run(sandbox.request(.authorize, at: "/common"), on: match, user: user)
            #expect(first.account?.homeAccountID == Sandbox.alice)
            var request = sandbox.request(.renew, at: "/common")
            request.refreshToken = first.refreshToken
            request.account = first.account?.homeAccountID
            let second = try await host.run(request, on: match, user: NobodyThere())
            #expect(second.accessToken != first.accessToken)
            try await sandbox.revoke("alice@contoso.example")
            request.refreshToken = second.refreshToken ?? first.refreshToken
            do throws(PluginError) {
                _ = try await host.run(request, on: match, user: NobodyThere())
                Issue.record("the token was revoked")
            } catch {
                #expect(error.code == .interactionRequired)
                #expect(error.suberror == "bad_token")
            }
        }
    }

    private struct User: UserInterface {
        let sandbox: Sandbox

        func answer(_ event: PluginEvent) async -> PluginReply {
            guard case .openURL(let url, _) = event else { return .unsupported }
            Task { try await sandbox.browse(url, as: "alice@contoso.example") }
            return .done
        }

        func progress(_ message: String) async {}
    }
}
