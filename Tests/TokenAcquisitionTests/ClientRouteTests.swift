import Addresses
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

/// The authority of a sign-in whose client a manifest names.
@Suite struct ClientRouteTests {
    private struct Route: CustomTestStringConvertible, Sendable {
        var client = "own"
        var port: Int?
        let redirect: String?
        var flows: [PluginRequest.Flow] = [.browser, .deviceCode]
        var testDescription: String { "\(client) at \(port.map(String.init) ?? "any port")" }

        static let rows = [
            Route(redirect: nil), Route(port: 8400, redirect: "http://localhost:8400"),
            Route(client: "ID-LOOPBACK", redirect: "http://127.0.0.1/x"),
            Route(client: "id-loopback", port: 8400, redirect: "http://127.0.0.1:8400/x"),
            Route(client: "id-fixed", port: 8400, redirect: "http://localhost:9000"),
            Route(client: "id-page", port: 8400, redirect: "https://login.example/nativeclient"),
            Route(client: "id-codes", redirect: nil, flows: [.deviceCode]),
        ]
    }

    private static var manifest: PluginManifest {
        var manifest = PluginManifest(name: "p")
        manifest.supports = [.redirectURI]
        manifest.authorities = [AuthorityPattern(hosts: ["login.example"], path: [.realm])]
        manifest.clients = [
            PluginClient(name: "loopback", id: "id-loopback", redirectURI: "http://127.0.0.1/x"),
            PluginClient(name: "fixed", id: "id-fixed", redirectURI: "http://localhost:9000"),
            PluginClient(name: "page", id: "id-page", redirectURI: "https://login.example/nativeclient"),
            PluginClient(name: "codes", id: "id-codes", flows: [.deviceCode]),
        ]
        return manifest
    }

    private static let acquirer = TokenAcquirer(
        AcquisitionServices(
            Configuration(), store: InMemoryKeyring(problem: .noProvider).records(),
            plugins: InstalledPlugins(PluginRegistry(plugins: [manifest])), runner: PluginRunner(environment: [:]),
            singleFlight: SingleFlight(in: []), clock: { 0 }))

    private func request(_ client: String, port: Int? = nil) throws -> TokenRequest {
        var request = TokenRequest("https://login.example/r", isConfigured: false, clientID: client, scopes: ["s"])
        if let port { try request.signIn.set(.redirectPort, to: .number(port)) }
        return request
    }

    @Test(arguments: Route.rows)
    private func `the redirect and the flows are the client's`(_ row: Route) throws {
        let request = try request(row.client, port: row.port)
        var ask = PluginRequest(.authorize)
        try Self.acquirer.requests.route(&ask, for: request, Self.acquirer.match(request), [.browser, .deviceCode])
        #expect(ask.redirectURI == row.redirect)
        #expect(ask.flows == row.flows)
        let token = RefreshTokenRecord(
            homeAccountID: "u.t", environment: "login.example", clientID: row.client, secret: Secret("RT"))
        let renewal = try Self.acquirer.requests.renewal(
            by: token, for: request, Self.acquirer.match(request), clientSecret: nil)
        #expect(renewal.redirectURI == row.redirect)
    }

    @Test func `the port that a rule names is on the address that the plugin's issuers know`() throws {
        var manifest = Self.manifest
        manifest.redirectURI = "http://127.0.0.1"
        let acquirer = TokenAcquirer(
            AcquisitionServices(
                Configuration(), store: InMemoryKeyring(problem: .noProvider).records(),
                plugins: InstalledPlugins(PluginRegistry(plugins: [manifest])), runner: PluginRunner(environment: [:]),
                singleFlight: SingleFlight(in: []), clock: { 0 }))
        for (port, redirect) in [(8400, "http://127.0.0.1:8400"), (nil, nil)] {
            let request = try request("own", port: port)
            var ask = PluginRequest(.authorize)
            try acquirer.requests.route(&ask, for: request, acquirer.match(request), [.browser])
            #expect(ask.redirectURI == redirect)
        }
    }

    @Test func `a client that may use none of the ways that there are is told`() throws {
        let request = try request("id-codes")
        let host = try Self.acquirer.match(request).authority.host
        #expect(throws: AcquisitionError.noUsableFlow(among: [.deviceCode], client: "codes", host: host)) {
            var ask = PluginRequest(.authorize)
            try Self.acquirer.requests.route(&ask, for: request, Self.acquirer.match(request), [.browser])
        }
    }
}
