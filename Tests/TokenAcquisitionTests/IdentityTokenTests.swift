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

/// When a new token is requested for an identity, and what is returned if that fails.
@Suite struct IdentityTokenTests {
    private static let start = 1_800_000_000
    private static let lifetime = 7200
    private static let refreshIn = 3600

    /// An authority for one kind of identity, with its own clock.
    private struct Bench {
        let folder: String
        let clock = Clock()
        let store: RecordStore
        let isMachine: Bool

        /// The name of a file that makes all requests fail; otherwise, each token's number is that of its request.
        var outage: String { folder + "/outage" }
        private var log: String { folder + "/log" }
        var requests: Int {
            (try? String(contentsOfFile: log, encoding: .utf8))?.split(separator: "\n").count ?? 0
        }

        init(in folder: String, isMachine: Bool, store: RecordStore) throws {
            self.folder = folder
            self.store = store
            self.isMachine = isMachine
            let environment = isMachine ? "localhost\\nrealm=managed_identity" : "login.example\\nrealm=contoso"
            try """
            #!/bin/sh
            while IFS= read -r line && [ -n "$line" ]; do echo "$line"; done >'\(folder)/request'
            echo asked >>'\(log)'
            if [ -e '\(outage)' ]; then
                printf 'event=error\\ncode=unavailable\\nmessage=out of reach\\n\\n'
            else
                printf 'event=result\\naccess_token=AT-%s\\nexpires_in=\(lifetime)\\nrefresh_in=\(refreshIn)\\nenvironment=\(environment)\\n\\n' \\
                    "$(wc -l <'\(log)')"
            fi
            """.write(toFile: folder + "/plugin", atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder + "/plugin")
        }

        var name: String { isMachine ? "managed-identity" : "acme" }

        private var plugin: PluginManifest {
            var manifest = PluginManifest(name: name)
            manifest.executable = folder + "/plugin"
            manifest.identities = [isMachine ? .managed : .client]
            manifest.supports = [.claims]
            if !isMachine { manifest.authorities = [AuthorityPattern(hosts: ["login.example"], path: [.realm])] }
            return manifest
        }

        /// The last request to the plugin.
        var lastRequest: String { (try? String(contentsOfFile: folder + "/request", encoding: .utf8)) ?? "" }

        private var request: TokenRequest {
            let application = Identity.Application(
                authority: "https://login.example/contoso", clientID: "cid", proof: .assertion("file:/token"))
            let identity = isMachine ? .machine : Identity(name: "release", source: .application(application))
            var request = TokenRequest(
                identity.authority ?? "", isConfigured: true, clientID: identity.clientID, scopes: ["s/.default"])
            request.identity = identity
            return request
        }

        /// Returns the token at a time relative to the first one.
        func token(after seconds: Int, claims: String? = nil) async throws -> String {
            clock.set(start + seconds)
            var request = request
            request.claims = claims
            return try await acquirer.token(for: request) { nil }.accessToken.reveal()
        }

        /// Reports a token as refused; nil stands for the current one.
        func reject(_ token: String?) throws {
            try acquirer.reject(token.map { .these(Secret($0).fingerprints) } ?? .current, for: [request])
        }

        private var acquirer: TokenAcquirer {
            TokenAcquirer(
                AcquisitionServices(
                    Configuration(), store: store, plugins: InstalledPlugins(PluginRegistry(plugins: [plugin])),
                    runner: PluginRunner(environment: ["PATH": "/usr/bin:/bin"]), singleFlight: SingleFlight(in: []),
                    clock: clock.now))
        }

        /// Expects a token at a time.
        func expect(_ expected: String, after seconds: Int, claims: String? = nil) async throws {
            let given = try await token(after: seconds, claims: claims)
            #expect(given == expected)
        }
    }

    private static func with(
        isMachine: Bool, store: RecordStore = InMemoryKeyring().records(), _ body: (Bench) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("identities-\(UUID())").path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(try Bench(in: folder, isMachine: isMachine, store: store))
    }

    @Test(arguments: [false, true])
    func `it is got anew as soon as its authority wants that, and not before`(isMachine: Bool) async throws {
        try await Self.with(isMachine: isMachine) { bench in
            try await bench.expect("AT-1", after: 0)
            try await bench.expect("AT-1", after: Self.refreshIn - 1)
            #expect(bench.requests == 1)
            try await bench.expect("AT-2", after: Self.refreshIn)
            try await bench.expect("AT-2", after: 2 * Self.refreshIn - 1)
            #expect(bench.requests == 2)
        }
    }

    @Test(arguments: [false, true], [KeyringError.Reason.noSessionBus, .noProvider, .locked, .timedOut])
    func `without a keyring each is handed out, and nobody is asked to open one`(
        isMachine: Bool, reason: KeyringError.Reason
    ) async throws {
        let keyring = InMemoryKeyring(problem: reason)
        try await Self.with(isMachine: isMachine, store: keyring.records(mayPrompt: true)) { bench in
            try await bench.expect("AT-1", after: 0)
            try await bench.expect("AT-2", after: 1)
            try bench.reject("AT-2")
        }
        #expect(keyring.questions == 0)
    }

    @Test(arguments: [false, true])
    func `one that a server refuses is dropped, and no other`(isMachine: Bool) async throws {
        try await Self.with(isMachine: isMachine) { bench in
            try await bench.expect("AT-1", after: 0)
            try bench.reject("another")
            try await bench.expect("AT-1", after: 1)
            try bench.reject("AT-1")
            try await bench.expect("AT-2", after: 1)
            try bench.reject(nil)
            try await bench.expect("AT-3", after: 1)
        }
    }

    @Test(arguments: [false, true])
    func `if claims are missed another is got, and a machine's platform is told of the old one`(
        isMachine: Bool
    ) async throws {
        try await Self.with(isMachine: isMachine) { bench in
            try await bench.expect("AT-1", after: 0)
            #expect(!bench.lastRequest.contains("access_token="))
            try await bench.expect("AT-2", after: 1, claims: "{}")
            #expect(bench.lastRequest.contains("claims={}\n"))
            #expect(bench.lastRequest.contains("access_token=AT-1\n") == isMachine)
            try await bench.expect("AT-2", after: 2)
        }
    }

    @Test(arguments: [false, true])
    func `if that fails the old one is given for as long as it lives`(isMachine: Bool) async throws {
        try await Self.with(isMachine: isMachine) { bench in
            try await bench.expect("AT-1", after: 0)
            #expect(FileManager.default.createFile(atPath: bench.outage, contents: nil))
            for moment in [Self.refreshIn, Self.lifetime - 299, Self.lifetime - 1] {
                try await bench.expect("AT-1", after: moment)
            }
            #expect(bench.requests == 4)
            let error = await #expect(throws: AcquisitionError.self) { try await bench.token(after: Self.lifetime) }
            guard case .plugin(let error, name: bench.name) = error, error.code == .unavailable else {
                Issue.record("another error: \(String(describing: error))")
                return
            }
            try FileManager.default.removeItem(atPath: bench.outage)
            try await bench.expect("AT-6", after: Self.lifetime)
        }
    }
}

/// A clock that tests set.
private final class Clock: Sendable {
    private let time = Mutex(0)

    func set(_ now: Int) { time.withLock { $0 = now } }
    var now: @Sendable () -> Int { { self.time.withLock { $0 } } }
}
