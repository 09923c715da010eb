import Foundation
import Glibc
import TestSupport
import Testing

@testable import Keyring
@testable import SealedKeyring

/// The protector `systemd`, with a service that does what the real one does, and fails as it does.
@Suite struct SystemdCredentialsTests {
    /// Runs the body with a service in a mode.
    private static func with(_ mode: String, _ body: (SealedFixture) async throws -> Void) async throws {
        try await SealedFixture.with(nil) { fixture in
            let socket = fixture.scratch.path + "/credentials"
            let service = Process()
            service.executableURL = URL(filePath: Built.checkout + "/Tests/TestSupport/Scripts/credentials-service")
            service.arguments = [socket, mode]
            try service.run()
            defer {
                kill(service.processIdentifier, SIGKILL)
                service.waitUntilExit()
            }
            for _ in 0..<3000 where access(socket, F_OK) != 0 { usleep(10_000) }
            let keyring = SealedKeyring(
                environment: fixture.scratch.environment.merging(["XDG_STATE_HOME": fixture.scratch.path + "/state"]) {
                    $1
                },
                machine: "a", credentials: SystemdCredentials(socket: socket, seconds: 2))
            try await body(SealedFixture(scratch: fixture.scratch, keyring: keyring))
            try? keyring.lock()
        }
    }

    @Test(arguments: ["ok", "once-closed"])
    func `the key is unwrapped whenever the kernel doesn't have it`(mode: String) async throws {
        try await Self.with(mode) { fixture in
            #expect(fixture.keyring.hasSystemd)
            try fixture.keyring.create(.systemd)
            try fixture.store("a", "one")
            try fixture.keyring.lock()
            #expect(try fixture.secrets() == ["one"])
        }
    }

    @Test(arguments: [
        ("io.systemd.Credentials.BadFormat", "another machine"),
        ("io.systemd.System {\"errno\": 2}", "lost the machine's secret"),
        ("io.systemd.System {\"errno\": 1}", "Operation not permitted"),
        ("io.systemd.Credentials.NoSuchUser", "this user"),
        ("org.varlink.service.InvalidParameter {\"parameter\": \"scope\"}", "older than systemd 256"),
        ("garbage", "gave no answer"), ("endless", "at too great length"), ("silent", "does not answer"),
    ])
    func `what it says is told, and nothing is made`(mode: String, told: String) async throws {
        try await Self.with(mode) { fixture in
            do throws(KeyringError) {
                try fixture.keyring.create(.systemd)
                Issue.record("it was created")
            } catch {
                #expect(error.reason == .sealedElsewhere && error.detail.contains(told), "\(error)")
            }
            #expect(!fixture.keyring.exists && !fixture.keyring.hasSystemd)
        }
    }

    @Test func `without the service, another protector opens the keyring, and nothing is lost`() async throws {
        try await Self.with("ok") { fixture in
            try fixture.keyring.create(.systemd)
            try fixture.store("a", "one")
            try fixture.keyring.protect(.command(wrap: ["cat"], unwrap: ["cat"]))
            try fixture.keyring.lock()
            let without = SealedFixture(scratch: fixture.scratch, keyring: SealedFixture.made(fixture.scratch))
            #expect(try without.secrets() == ["one"])
            try without.keyring.unprotect(.command)
            try without.keyring.lock()
            do throws(KeyringError) {
                _ = try without.secrets()
                Issue.record("it was opened")
            } catch {
                #expect(error.reason == .sealedElsewhere, "\(error)")
            }
            #expect(fixture.files.count == 1)
            #expect(try fixture.secrets() == ["one"])
        }
    }
}
