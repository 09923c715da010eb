import AnswerCache
import Foundation
import Keyring
import Model
import PluginWire
import Secrets
import Synchronization
import TestSupport
import Testing

@testable import PluginHost
@testable import Rules
@testable import TokenAcquisition

/// Whom a request for a token reaches, with what, and how often: the keyring, the broker's plugin, the authority's, the user.
@Suite struct PluginCallTests {
    private static let now = 1_800_000_000
    private static let host = "id.example"
    private static let refused = "event=error\\ncode=interaction-required\\nmessage=sign in\\n\\n"
    private static let absent = "event=error\\ncode=unavailable\\nmessage=nobody home\\n\\n"

    /// A plugin for an issuer that takes no client without a secret, and one for a broker; each writes down what it is asked.
    private struct Bench {
        let folder: String
        let keyring = InMemoryKeyring()
        let announced = Counter()
        let found = Counter()

        init(in folder: String, broker: String) throws {
            self.folder = folder
            for realm in [PluginProtocol.realmOfHost, ""] {
                try ClientSecretStore(configuration: keyring.configuration()).store(
                    ClientSecret(Secret("sesame")),
                    of: ClientSecretStore.Owner(environment: host, realm: realm, clientID: "cid"))
            }
            let token =
                "event=result\\naccess_token=AT-%s\\nexpires_in=3600\\nenvironment=\(host)\\nrealm=\(PluginProtocol.realmOfHost)\\n"
                + "home_account_id=u\\nusername=u\\n\\n"
            let scripts = [
                "acme": "printf '\(token)' acme",
                "desk": "grep -q operation=authorize '\(folder)/desk' && printf '\(token)' window || "
                    + (broker.isEmpty ? "printf '\(token)' desk" : "printf '\(broker)'"),
            ]
            for (name, script) in scripts {
                try """
                #!/bin/sh
                while IFS= read -r line && [ -n "$line" ]; do echo "$line"; done >>'\(folder)/\(name)'
                \(script)
                """.write(toFile: folder + "/\(name).sh", atomically: true, encoding: .utf8)
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o700], ofItemAtPath: folder + "/\(name).sh")
            }
        }

        /// What a plugin was asked.
        func asked(_ name: String) -> String {
            (try? String(contentsOfFile: folder + "/\(name)", encoding: .utf8)) ?? ""
        }

        private var plugins: PluginRegistry {
            var acme = PluginManifest(name: "acme")
            acme.executable = folder + "/acme.sh"
            acme.kind = "oidc"
            acme.supports = [.clientSecrets]
            acme.authorities = [
                AuthorityPattern(hosts: [host], path: [.rest]),
                AuthorityPattern(hosts: [host], path: [.literal("fern")]),
            ]
            var issuer = PluginIssuer(kind: "secretive", hosts: [host])
            issuer.flows = [.browser]
            issuer.secretFlows = [.browser]
            acme.issuers = [issuer]
            var desk = PluginManifest(name: "desk")
            desk.executable = folder + "/desk.sh"
            desk.flows = [.broker]
            desk.brokered = [
                BrokerPattern(kind: "oidc", authority: AuthorityPattern(hosts: [host], path: [.rest]))
            ]
            return PluginRegistry(plugins: [acme, desk])
        }

        private func token(flows: [PluginRequest.Flow], at authority: String) async throws -> String {
            let request = TokenRequest(authority, isConfigured: true, clientID: "cid", scopes: ["s"])
            var services = AcquisitionServices(
                Configuration(), store: keyring.records(), plugins: InstalledPlugins(plugins),
                runner: PluginRunner(environment: ["PATH": "/usr/bin:/bin"]), singleFlight: SingleFlight(in: []),
                clock: { now })
            services.clientSecrets = ClientSecretStore(configuration: keyring.configuration())
            // Without a session bus, no broker is asked.
            services.environment = ["DBUS_SESSION_BUS_ADDRESS": "unix:abstract=lanyard-tests"]
            return try await TokenAcquirer(services).token(for: request) { [found, announced] in
                found.count()
                return TokenAcquirer.User(interface: Patient(), flows: flows) { announced.count() }
            }.accessToken.reveal()
        }

        /// Adds an access token that has ended, and the refresh token for it.
        func addExpired() throws {
            try keyring.records().save([
                .account(
                    AccountRecord(
                        homeAccountID: "u", environment: host, realm: PluginProtocol.realmOfHost, username: "u")),
                .accessToken(
                    AccessTokenRecord(
                        homeAccountID: "u", environment: host, clientID: "cid", realm: PluginProtocol.realmOfHost,
                        target: "s", secret: Secret("old"), cachedAt: 1, expiresOn: 2)),
                .refreshToken(
                    RefreshTokenRecord(homeAccountID: "u", environment: host, clientID: "cid", secret: Secret("rt"))),
            ])
        }

        func expect(
            _ expected: String, flows: [PluginRequest.Flow] = [.browser], at authority: String = "https://\(host)"
        ) async throws {
            let token = try await token(flows: flows, at: authority)
            #expect(token == expected)
        }
    }

    private static func with(broker: String = "", _ body: (Bench) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("calls-\(UUID())").path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(try Bench(in: folder, broker: broker))
    }

    @Test func `if the broker answers, nobody looks for the user, or tells them anything`() async throws {
        try await Self.with { bench in
            try await bench.expect("AT-desk")
            #expect(bench.found.value == 0 && bench.announced.value == 0)
            #expect(bench.asked("acme").isEmpty)
        }
    }

    @Test func `if it has nothing, the user is looked for once, and told once`() async throws {
        try await Self.with(broker: Self.absent) { bench in
            try await bench.expect("AT-acme")
            #expect(bench.found.value == 1 && bench.announced.value == 1)
        }
    }

    @Test func `the broker's plugin doesn't get the client's secret, and the authority's does`()
        async throws
    {
        try await Self.with(broker: Self.refused) { bench in
            try await bench.expect("AT-window", flows: [.broker, .browser])
            let asked = bench.asked("desk")
            #expect(asked.contains("operation=silent\n") && asked.contains("operation=authorize\n"), "\(asked)")
            #expect(!asked.contains("client_secret"), "\(asked)")
        }
        try await Self.with(broker: Self.refused) { bench in
            try await bench.expect("AT-acme")
            let asked = bench.asked("acme")
            #expect(asked.contains("client_secret=sesame\n"), "\(asked)")
        }
    }

    @Test(arguments: ["https://ID.Example", "https://id.example:443", "https://id.example/"])
    func `plugins hear of an authority in one spelling, whichever a rule has`(_ spelling: String) async throws {
        try await Self.with(broker: Self.absent) { bench in
            try await bench.expect("AT-acme", at: spelling)
            #expect(bench.asked("acme").contains("authority=https://\(Self.host)\n"), "\(bench.asked("acme"))")
        }
    }

    @Test func `what is stored for an authority whose path names no realm is found again`() async throws {
        try await Self.with(broker: Self.absent) { bench in
            for _ in 0..<3 { try await bench.expect("AT-acme", at: "https://\(Self.host)/fern") }
            #expect(bench.asked("acme").components(separatedBy: "operation=").count == 2, "\(bench.asked("acme"))")
        }
    }

    @Test func `a renewal reads the keyring twice, and the client's secret with the records`() async throws {
        try await Self.with { bench in
            try bench.addExpired()
            try await bench.expect("AT-acme")
            #expect(bench.asked("acme").contains("client_secret=sesame\n"))
            // A search for records alone names their environment.
            let searches = bench.keyring.searches.map { $0["environment"] ?? $0["kind"] }
            #expect(searches == [nil, nil])
        }
    }
}

/// A counter that several threads use.
private final class Counter: Sendable {
    private let number = Mutex(0)
    func count() { number.withLock { $0 += 1 } }
    var value: Int { number.withLock { $0 } }
}

/// Goes along with everything.
private struct Patient: UserInterface {
    func answer(_ event: PluginEvent) async -> PluginReply { .done }
    func progress(_ message: String) async {}
}
