import AnswerCache
import Files
import Glibc
import Keyring
import Model
import PluginWire
import Secrets
import TestSupport
import Testing

@testable import PluginHost
@testable import Rules
@testable import TokenAcquisition

/// Sign-ins without a keyring; `IdentityTokenTests` has those of identities.
@Suite struct StorelessTests {
    /// Types the code of Acme's fob, which is not to be asked for.
    private struct FobOwner: UserInterface {
        func answer(_ event: PluginEvent) async -> PluginReply {
            Issue.record("the user is asked")
            return .answer(Secret("42"))
        }
        func progress(_ message: String) async {}
    }

    private static var acme: PluginManifest {
        var manifest = PluginManifest(name: "acme")
        let tests = FileTrust.realPath("/proc/self/exe") ?? "/"
        manifest.executable = FileTrust.parent(of: tests) + "/ExamplePlugin"
        manifest.authorities = [AuthorityPattern(hosts: ["id.acme.example"], path: [.realm])]
        return manifest
    }

    @Test(arguments: [KeyringError.Reason.noSessionBus, .noDefaultCollection, .locked])
    func `a sign-in that can't be kept isn't begun, and the reason is told`(reason: KeyringError.Reason) async {
        let acquirer = TokenAcquirer(
            AcquisitionServices(
                Configuration(), store: InMemoryKeyring(problem: reason).records(),
                plugins: InstalledPlugins(PluginRegistry(plugins: [Self.acme])),
                runner: PluginRunner(environment: ["PATH": "/usr/bin:/bin"]), singleFlight: SingleFlight(in: []),
                clock: { Int(time(nil)) }))
        let request = TokenRequest("https://id.acme.example/acme", isConfigured: false, clientID: "c", scopes: ["s1"])
        let user = TokenAcquirer.User(interface: FobOwner(), flows: [])
        await #expect(throws: AcquisitionError.store(KeyringError(reason))) {
            try await acquirer.token(for: request) { user }
        }
        await #expect(throws: AcquisitionError.store(KeyringError(reason))) {
            try await acquirer.signIn(request, user: user)
        }
    }
}
