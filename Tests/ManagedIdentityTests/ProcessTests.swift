import AuthorityFixture
import Foundation
import ManagedIdentity
import PluginConformance
import PluginHost
import PluginWire
import Secrets
import Testing

/// `lanyard-authority managed-identity` as the host starts it.
@Suite(.serialized)
struct ProcessTests {
    private static let checkout = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path
    private static let environment = ["LANYARD_PLUGIN_PATH": "\(checkout)/plugins", "PATH": "/usr/bin:/bin"]

    private static func plugin() throws -> PluginManifest {
        let built = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "lanyard").path
        let registry = PluginRegistry.discover(environment: environment, executable: built)
        #expect(registry.problems.isEmpty)
        return try #require(registry.plugins.first { $0.name == "managed-identity" })
    }

    @Test func `the manifest names what the plugin reads, and no authority`() throws {
        let plugin = try Self.plugin()
        #expect(plugin.authorities.isEmpty)
        #expect(plugin.identities == [.managed])
        #expect(
            Set(plugin.variables) == [
                "IDENTITY_ENDPOINT", "IDENTITY_HEADER", "IDENTITY_SERVER_THUMBPRINT", "IMDS_ENDPOINT", "MSI_ENDPOINT",
                "MSI_SECRET", "DEFAULT_IDENTITY_CLIENT_ID", "AZURE_POD_IDENTITY_AUTHORITY_HOST",
            ])
        #expect(plugin.version == ManagedIdentityPlugin(environment: [:]).description.version)
    }

    @Test func `it keeps to the protocol`() async throws {
        let trials = await ConformanceKit(try Self.plugin(), environment: Self.environment).run()
        #expect(trials.filter { $0.fault != nil } == [])
    }

    @Test func `a machine signs in through the process`() async throws {
        let body = #"{"access_token":"AT","expires_on":"\#(Int(Date.now.timeIntervalSince1970) + 3600)"}"#
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: \(body.utf8.count)\r\n\r\n\(body)"
        try await PlainServer.run({ _ in .answer(answer) }) { server in
            var request = PluginRequest(.authenticate)
            request.identity = PluginIdentity(.managed)
            request.identity?.managedID = "system"
            request.identity?.variables = [
                PluginField("IDENTITY_ENDPOINT", Secret("\(server.url)/token")),
                PluginField("IDENTITY_HEADER", Secret("h")),
            ]
            request.scopes = ["https://vault.azure.net/.default"]
            let host = PluginRunner(environment: Self.environment)
            let result = try await host.authenticate(request, by: try Self.plugin(), at: nil)
            #expect(result.accessToken == Secret("AT"))
            #expect(result.realm == "managed_identity")
            #expect((3590...3600).contains(result.expiresIn ?? 0))
            #expect(server.requests.count == 1)
        }
    }
}
