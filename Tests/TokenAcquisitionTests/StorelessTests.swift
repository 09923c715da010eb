import Files
import Glibc
import PluginWire
import Secrets
import Testing
import TokenStore

@testable import PluginHost
@testable import Rules
@testable import TokenAcquisition

/// Getting tokens without any storage.
@Suite struct StorelessTests {
    /// Types the code of Acme's fob.
    private struct FobOwner: PersonInterface {
        func answer(_ event: PluginEvent) async -> PluginReply { .answer(Secret("42")) }
        func progress(_ message: String) async {}
    }

    private static var acme: PluginManifest {
        var manifest = PluginManifest(name: "acme")
        let tests = FileTrust.realPath("/proc/self/exe") ?? "/"
        manifest.executable = FileTrust.parent(of: tests) + "/ExamplePlugin"
        manifest.authorities = [AuthorityPattern(hosts: ["id.acme.example"], path: [.realm])]
        return manifest
    }

    private static let acquirer = TokenAcquirer(
        store: NoRecordStore(), plugins: InstalledPlugins(PluginRegistry(plugins: [acme])),
        host: PluginRunner(environment: ["PATH": "/usr/bin:/bin"]), singleFlight: SingleFlight(environment: [:]),
        notes: SharedNotes(runtimeFolderOf: [:]), configuration: Configuration(), clock: { Int(time(nil)) })

    private static let request = TokenRequest(
        origin: .consumer, authority: "https://id.acme.example/acme", authorityIsConfigured: false, clientID: "c",
        scopes: ["s1"])

    @Test func `a token is handed out though it can't be kept`() async throws {
        let token = try await Self.acquirer.token(for: Self.request) {
            TokenAcquirer.Person(interface: FobOwner(), flows: [])
        }
        #expect(token.accessToken == Secret("acme-42"))
        guard case .askPerson = Self.acquirer.decide(Self.request).step else {
            Issue.record("something was kept")
            return
        }
    }

    @Test func `without anybody to ask there is none`() async {
        let error = await #expect(throws: AcquisitionError.self) {
            try await Self.acquirer.token(for: Self.request) { nil }
        }
        guard case .interactionRequired = error else {
            Issue.record("another error")
            return
        }
    }
}
