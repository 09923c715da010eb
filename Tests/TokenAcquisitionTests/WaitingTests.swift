import AnswerCache
import Foundation
import Keyring
import PluginHost
import TestSupport
import Testing

@testable import Rules
@testable import TokenAcquisition

/// How long a process waits for another one of the same user.
@Suite struct WaitingTests {
    private static func acquirer(_ timeout: Int, _ locks: SingleFlight) -> TokenAcquirer {
        var configuration = Configuration()
        configuration.timeout = timeout
        return TokenAcquirer(
            AcquisitionServices(
                configuration, store: InMemoryKeyring().records(),
                plugins: InstalledPlugins(PluginRegistry(plugins: [])), runner: PluginRunner(environment: [:]),
                singleFlight: locks, clock: { 0 }))
    }

    @Test(arguments: [(10, 70.0), (900, 960), (86_400, 86_460)])
    func `it is a little longer than a user has, or than a server takes`(timeout: Int, wait: Double) {
        let locks = Self.acquirer(timeout, SingleFlight(in: [])).locks
        #expect(locks.longestWait(for: .signIn) == wait)
        #expect(locks.longestWait(for: .renewal) == 70 && locks.longestWait(for: .exchange) == 70)
        #expect(locks.longestWait(for: .authentication) == 130)
        var hasty = locks
        hasty.services.lockPatience = 2
        for work in [SharedWork.signIn, .renewal, .authentication, .exchange] {
            #expect(hasty.longestWait(for: work) == 2)
        }
    }

    @Test func `then it gives up, and not before`() async throws {
        let runtime = FileManager.default.temporaryDirectory.appendingPathComponent("waiting-\(UUID())").path
        try FileManager.default.createDirectory(
            atPath: runtime, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: runtime) }
        let locks = SingleFlight(in: [runtime + "/lanyard"])
        var waiter = Self.acquirer(900, locks)
        waiter.services.lockPatience = 0.3
        let asked = waiter
        try await locks.withLock(key: "k", deadline: 1) {
            let start = ContinuousClock.now
            await #expect(throws: AcquisitionError.busy(nil, .renewal)) {
                try await asked.locks.exclusively("k", for: .renewal) { 1 }
            }
            #expect(ContinuousClock.now - start >= .milliseconds(300))
        }
        #expect(try await asked.locks.exclusively("k", for: .renewal) { 1 } == 1)
        // Work that doesn't need the lock continues.
        try await locks.withLock(key: "k", deadline: 1) {
            let result = try await asked.locks.exclusively("k", for: .renewal, isRequired: false) { 1 }
            #expect(result == 1)
            // If there is a substitute, it is handed out instead.
            await #expect(throws: AcquisitionError.busy(nil, .renewal)) {
                try await asked.locks.exclusively("k", for: .renewal, isRequired: false, hasSubstitute: true) { 1 }
            }
        }
    }

    @Test func `where no lock is available it goes on without one`() async throws {
        let acquirer = Self.acquirer(900, SingleFlight(in: []))
        #expect(try await acquirer.locks.exclusively("k", for: .renewal) { 1 } == 1)
    }
}
