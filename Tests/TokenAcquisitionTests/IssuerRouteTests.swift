import AnswerCache
import Claims
import Keyring
import Model
import PluginWire
import Secrets
import TestSupport
import Testing

@testable import PluginHost
@testable import Rules
@testable import TokenAcquisition

/// What a plugin receives about an issuer that its manifest knows.
@Suite struct IssuerRouteTests {
    private static var manifest: PluginManifest {
        var manifest = PluginManifest(name: "p")
        manifest.kind = "oidc"
        manifest.supports = [.prompt, .queryParameters]
        manifest.authorities = [
            AuthorityPattern(
                hosts: ["git.example", "id.example", "secret.example", "mixed.example", "*"], path: [.rest])
        ]
        var issuer = PluginIssuer(kind: "forge", hosts: ["git.example"])
        issuer.flows = [.browser, .paste]
        var secretive = PluginIssuer(kind: "secretive", hosts: ["secret.example"])
        secretive.flows = [.browser, .paste]
        secretive.secretFlows = [.browser, .paste]
        var mixed = PluginIssuer(kind: "mixed", hosts: ["mixed.example"])
        mixed.flows = [.browser, .deviceCode]
        mixed.secretFlows = [.browser]
        manifest.issuers = [issuer, secretive, mixed]
        return manifest
    }

    private static let acquirer = TokenAcquirer(
        AcquisitionServices(
            Configuration(), store: InMemoryKeyring(problem: .noProvider).records(),
            plugins: InstalledPlugins(PluginRegistry(plugins: [manifest])), runner: PluginRunner(environment: [:]),
            singleFlight: SingleFlight(in: []), clock: { 0 }))

    private func request(_ authority: String, kind: String? = nil) -> TokenRequest {
        var request = TokenRequest(authority, isConfigured: true, clientID: "c", scopes: ["s"])
        request.kind = kind
        return request
    }

    @Test(arguments: [
        ("https://git.example", nil, "forge"), ("https://own.example/git", "forge", "forge"),
        ("https://id.example", nil, nil), ("https://own.example", nil, nil),
    ])
    func `the kind that the manifest knows goes with the request`(
        _ authority: String, _ named: String?, _ kind: String?
    ) throws {
        let request = request(authority, kind: named)
        let ask = try Self.acquirer.requests.make(.renew, for: request, Self.acquirer.match(request), clientSecret: nil)
        #expect(ask.kind == kind)
    }

    @Test func `flows that don't work there aren't tried`() throws {
        let request = request("https://git.example")
        var ask = PluginRequest(.authorize)
        try Self.acquirer.requests.route(&ask, for: request, Self.acquirer.match(request), [.deviceCode, .browser])
        #expect(ask.flows == [.browser])
        let error = AcquisitionError.noUsableFlow(among: [.browser, .paste], client: nil, host: "git.example")
        #expect(throws: error) {
            try Self.acquirer.requests.route(&ask, for: request, Self.acquirer.match(request), [.deviceCode])
        }
        var manifest = Self.manifest
        manifest.flows = [.browser]
        let match = try #require(PluginRegistry(plugins: [manifest]).match(self.request("https://id.example")))
        func flows(_ flows: [PluginRequest.Flow]) throws -> [PluginRequest.Flow] {
            try match.flows(for: request, among: flows, hasSecret: false)
        }
        #expect(try flows([.deviceCode, .browser]) == [.browser])
        #expect(throws: AcquisitionError.noUsableFlow(among: [.browser], client: nil, host: "id.example")) {
            try flows([.deviceCode])
        }
    }

    @Test func `what only a page has is asked for by no device code, and of no plugin that doesn't support it`() throws
    {
        var request = request("https://id.example")
        let match = try Self.acquirer.match(request)
        func flows(_ flows: [PluginRequest.Flow]) throws -> [PluginRequest.Flow] {
            try match.flows(for: request, among: flows, hasSecret: false)
        }
        request.signIn.queryParameters = ["a": "b"]
        #expect(try flows([.deviceCode, .paste, .browser]) == [.paste, .browser])
        #expect(throws: AcquisitionError.needsPage(.queryParameters)) { try flows([.deviceCode]) }
        request.signIn.prompt = "login"
        #expect(throws: AcquisitionError.needsPage(.prompt)) { try flows([.deviceCode]) }
        request.signIn = SignInParameters()
        #expect(try flows([.deviceCode, .paste]) == [.deviceCode, .paste])
        request.claims = "{}"
        let error = #expect(throws: AcquisitionError.self) { try flows([.browser]) }
        guard case .plugin(let refusal, name: "p")? = error else { throw error ?? .noBroker }
        #expect(refusal.code == .unsupported)
    }

    @Test func `nothing is asked of an issuer that takes no client without a secret`() throws {
        let request = request("https://secret.example")
        #expect(throws: AcquisitionError.noClientSecret) {
            try Self.acquirer.requests.make(.renew, for: request, Self.acquirer.match(request), clientSecret: nil)
        }
    }

    @Test func `a client without a secret signs in by the flows that need none`() throws {
        let request = request("https://mixed.example")
        var ask = try Self.acquirer.requests.make(
            .authorize, for: request, Self.acquirer.match(request), clientSecret: nil)
        try Self.acquirer.requests.route(&ask, for: request, Self.acquirer.match(request), [.browser, .deviceCode])
        #expect(ask.flows == [.deviceCode])
        #expect(throws: AcquisitionError.noClientSecret) {
            try Self.acquirer.requests.route(&ask, for: request, Self.acquirer.match(request), [.browser])
        }
        ask.clientSecret = Secret("s")
        try Self.acquirer.requests.route(&ask, for: request, Self.acquirer.match(request), [.browser, .deviceCode])
        #expect(ask.flows == [.browser, .deviceCode])
    }
}
