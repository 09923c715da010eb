import Foundation
import TestSupport
import Testing

/// The sealed keyring as its users see it, on machines without a bus.
@Suite struct SealedKeyringCommandTests {
    private static let request = "protocol=https\nhost=git.example\n"
    private static let stored = request + "username=alice\npassword=s3cret\n\n"

    /// Runs the body in a home without a bus; then the kernel forgets the key.
    private func withHome(_ body: @Sendable (Home) async throws -> Void) async throws {
        try await Home.with { home in
            let result: Result<Void, any Error>
            do { result = .success(try await body(home)) } catch { result = .failure(error) }
            _ = try? await home.lanyard(["keyring", "delete", "--yes"])
            try result.get()
        }
    }

    @Test func `it is created, locked, unlocked and deleted, and keeps passwords`() async throws {
        try await withHome { home in
            let without = try await home.lanyard(["store"], input: Self.stored)
            #expect(without.errors.contains("lanyard keyring create"), "\(without)")
            let created = try await home.lanyard(["keyring", "create", "passphrase"], input: "correct horse\n")
            #expect(created.status == 0 && created.errors.contains("was created"), "\(created)")
            #expect(try home.text(home.configFile).contains("[keyring]\nkind = \"sealed\"\n"))

            let kept = try await home.lanyard(["store"], input: Self.stored)
            #expect(kept.status == 0 && kept.errors.isEmpty, "\(kept)")
            let got = try await home.lanyard(["get"], input: Self.request + "\n")
            #expect(got.output.contains("password=s3cret\n"), "\(got)")

            let locked = try await home.lanyard(["lock"])
            #expect(locked.errors == "lanyard: the keyring is locked\n", "\(locked)")
            let refused = try await home.lanyard(["get"], input: Self.request + "\n")
            let told = "lanyard: error: the sealed keyring is locked\nlanyard: hint: unlock it: lanyard unlock\n"
            #expect(refused.output.isEmpty && refused.errors == told, "\(refused)")
            let wrong = try await home.lanyard(["unlock"], input: "correct hors\n")
            #expect(
                wrong.status == 1 && wrong.errors.hasPrefix("lanyard: error: that is not the keyring's password\n"),
                "\(wrong)")
            let right = try await home.lanyard(["unlock"], input: "correct horse\n")
            #expect(right.status == 0 && right.errors == "lanyard: the keyring is unlocked\n", "\(right)")
            let again = try await home.lanyard(["get"], input: Self.request + "\n")
            #expect(again.output.contains("password=s3cret\n"), "\(again)")

            let status = try await home.lanyard(["keyring", "status", "--json"])
            #expect(status.output.contains("\"protectors\""), "\(status)")
            #expect(status.output.contains("\"items\" : 1") || status.output.contains("\"items\":1"), "\(status)")
            let doctor = try await home.lanyard(["doctor", "--json"])
            #expect(doctor.output.contains("the sealed keyring, protected by passphrase"), "\(doctor)")

            let deleted = try await home.lanyard(["keyring", "delete", "--yes"])
            #expect(deleted.status == 0, "\(deleted)")
            let none = try await home.lanyard(["keyring", "status"])
            #expect(none.output.contains("none on this machine"), "\(none)")
        }
    }

    /// podman, of a user who isn't root, runs its helpers so.
    @Test(
        .enabled(if: Namespaces.areAvailable, "this user may make no namespaces"), arguments: ["session", "passphrase"])
    func `it is the same one in a user namespace, and loses nothing there`(_ protector: String) async throws {
        @Sendable func inNamespace(_ home: Home, _ words: [String], _ input: String = "") async throws -> Ended {
            try await run(
                "/usr/bin/unshare", ["--user", "--map-root-user", Built.lanyard] + words, input: input,
                environment: home.environment)
        }
        try await withHome { home in
            let created = try await home.lanyard(["keyring", "create", protector, "--yes"], input: "correct horse\n")
            #expect(created.status == 0, "\(created)")
            #expect(try await home.lanyard(["store"], input: Self.stored).status == 0)
            let got = try await inNamespace(home, ["get"], Self.request + "\n")
            #expect(got.output.contains("password=s3cret\n"), "\(got)")
            let other = Self.stored.replacing("git.example", with: "other.example")
            #expect(try await inNamespace(home, ["store"], other).status == 0)
            for host in ["git.example", "other.example"] {
                let got = try await home.lanyard(["get"], input: "protocol=https\nhost=\(host)\n\n")
                #expect(got.output.contains("password=s3cret\n"), "\(host) \(got)")
            }
            // Whoever can't find the key doesn't know that its session has ended.
            let files = FileManager.default.enumerator(atPath: home.folder)?.allObjects.map { "\(home.folder)/\($0)" }
            let serials = try #require(files).filter { $0.contains("/kernel-key.") }
            #expect(serials.count == 1)
            for file in serials { try FileManager.default.removeItem(atPath: file) }
            let lost = try await inNamespace(home, ["store"], other)
            #expect(lost.status == 1 && lost.errors.contains("lanyard: error: the sealed keyring"), "\(lost)")
            #expect(try await home.lanyard(["get"], input: Self.request + "\n").output.contains("s3cret"))
        }
    }

    @Test func `protectors are added and removed, and the last one stays`() async throws {
        try await withHome { home in
            let created = try await home.lanyard(["keyring", "create", "command", "--wrap", "cat", "--unwrap", "cat"])
            #expect(created.status == 0, "\(created)")
            let added = try await home.lanyard(["keyring", "protect", "passphrase"], input: "p\n")
            #expect(added.status == 0, "\(added)")
            let removed = try await home.lanyard(["keyring", "protect", "--remove", "command"])
            #expect(removed.status == 0, "\(removed)")
            let last = try await home.lanyard(["keyring", "protect", "--remove", "passphrase"])
            #expect(last.status == 1 && last.errors.contains("passphrase is its only protector"), "\(last)")
            let session = try await home.lanyard(["keyring", "protect", "session"])
            #expect(session.errors.contains("the other protectors open it after that"), "\(session)")
            let only = try await home.lanyard(["keyring", "protect", "--remove", "passphrase"])
            #expect(only.errors.contains("everything is gone when you log out"), "\(only)")
            let relative = try await home.lanyard([
                "keyring", "protect", "command", "--wrap", "cat", "--unwrap", "./cat",
            ])
            #expect(
                relative.errors.contains("no protector was made: the command ./cat is not named by its"), "\(relative)")
            let usage = try await home.lanyard(["keyring", "create", "command"])
            #expect(usage.status == 64, "\(usage)")
        }
    }

    @Test func `it moves to the other keyring and back`() async throws {
        try await KeyringFixture.with(.unlocked) { keyring in
            #expect(try await keyring.run(Built.lanyard, ["store"], input: Self.stored).status == 0)
            // The same command locks the Secret Service's.
            let locked = try await keyring.run(Built.lanyard, ["lock"])
            #expect(locked.status == 0 && locked.errors == "lanyard: the keyring is locked\n", "\(locked)")
            let refused = try await keyring.run(Built.lanyard, ["get"], input: Self.request + "\n")
            #expect(refused.errors.contains("hint: unlock it: lanyard unlock\n"), "\(refused)")
            let opened = try await keyring.run(Built.lanyard, ["unlock"], input: KeyringFixture.password + "\n")
            #expect(opened.status == 0, "\(opened)")
            #expect(try await keyring.run(Built.lanyard, ["keyring", "create", "session"]).status == 0)
            let unmoved = try await keyring.run(Built.lanyard, ["get"], input: Self.request + "\n")
            #expect(unmoved.output.isEmpty, "\(unmoved)")
            for (kind, other) in [("sealed", "secret-service"), ("secret-service", "sealed")] {
                let moved = try await keyring.run(Built.lanyard, ["keyring", "move", "--yes", kind])
                #expect(moved.status == 0 && moved.errors.contains("moved 1 item;"), "\(moved)")
                let got = try await keyring.run(Built.lanyard, ["get"], input: Self.request + "\n")
                #expect(got.output.contains("password=s3cret\n"), "\(got)")
                let nothing = try await keyring.run(Built.lanyard, ["keyring", "move", "--yes", kind])
                #expect(nothing.errors.contains("moved 0 items;"), "\(other) \(nothing)")
            }
            _ = try await keyring.run(Built.lanyard, ["keyring", "delete", "--yes"])
        }
    }

    @Test func `after a reboot, a fetch asks nothing`() async throws {
        try await World.with(.noBus) { world in
            let created = try await world.lanyard(["keyring", "create", "command", "--wrap", "cat", "--unwrap", "cat"])
            #expect(created.status == 0, "\(created)")
            let url = "\(world.sandbox.resource)/contoso/hello.git"
            let clone = try await world.git(
                ["clone", "--quiet", url, "hello"], world.browser(as: "bob@contoso.example"))
            #expect(clone.status == 0, "\(clone)")
            try await world.sandbox.clearLog()
            // What a reboot takes: the kernel's keys, and the runtime folder.
            #expect(try await world.lanyard(["lock"]).status == 0)
            try FileManager.default.createDirectory(
                atPath: world.folder + "/run2", withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            let fetch = try await world.git(["-C", "hello", "fetch"], ["XDG_RUNTIME_DIR": world.folder + "/run2"])
            #expect(fetch.status == 0 && fetch.errors.isEmpty, "\(fetch)")
            #expect(try await world.sandbox.authorityRequests().count(grant: "authorization_code") == 0)
            _ = try await world.lanyard(["keyring", "delete", "--yes"])
        }
    }

    @Test func `an administrator forbids it or demands a protector, and a shared device keeps nothing`() async throws {
        try await World.with(.noBus) { world in
            func lanyard(_ arguments: [String], _ system: String, input: String = "") async throws -> Ended {
                try await world.lanyard(arguments, system: system, input: input)
            }
            let forbidden = "[policy]\nsealed-keyring = []\n"
            let none = try await lanyard(["keyring", "create", "passphrase"], forbidden, input: "p")
            #expect(none.status == 1 && none.errors.contains("policy allows no sealed keyring"), "\(none)")
            let demanded = "[policy]\nsealed-keyring = [\"session\"]\n"
            let other = try await lanyard(["keyring", "create", "passphrase"], demanded, input: "p")
            #expect(other.status == 1 && other.errors.contains("only these protectors: session"), "\(other)")

            #expect(try await world.lanyard(["keyring", "create", "passphrase"], input: "p").status == 0)
            for (system, told) in [
                (forbidden, "policy allows no sealed keyring"), (demanded, "only these protectors: session"),
                (SharedDeviceTests.shared, "a shared device allows no protector but session"),
            ] {
                let refused = try await lanyard(["store"], system, input: Self.stored)
                #expect(refused.errors.contains(told), "\(refused)")
            }
            #expect(try await world.lanyard(["keyring", "delete", "--yes"]).status == 0)

            let shared = SharedDeviceTests.shared
            #expect(try await lanyard(["keyring", "create", "session"], shared).status == 0)
            #expect(try await lanyard(["store"], shared, input: Self.stored).errors.isEmpty)
            let got = try await lanyard(["get"], shared, input: Self.request + "\n")
            #expect(got.output.contains("password=s3cret\n"), "\(got)")
            let locked = try await lanyard(["lock"], shared)
            #expect(locked.status == 0 && locked.errors.contains("loses 1 item"), "\(locked)")
            let gone = try await lanyard(["get"], shared, input: Self.request + "\n")
            #expect(gone.output.isEmpty && gone.errors.isEmpty, "\(gone)")
            _ = try await world.lanyard(["keyring", "delete", "--yes"])
        }
    }

    @Test func `at a terminal, a command that needs it offers to create it, once`() async throws {
        try await withHome { home in
            let declined = try await home.lanyardAtTerminal(
                ["cache", "list"], [("create the sealed keyring? [Y/n]", "n")])
            #expect(declined.status == 1, "\(declined)")
            let again = try await home.lanyardAtTerminal(["cache", "list"], [])
            #expect(again.status == 1 && !again.description.contains("[Y/n]"), "\(again)")
            #expect(again.description.contains("lanyard keyring create"), "\(again)")
        }
        try await withHome { home in
            let agreed = try await home.lanyardAtTerminal(["cache", "list"], Self.agreement)
            #expect(agreed.status == 0, "\(agreed)")
        }
    }

    @Test func `doctor says what is wrong, and offers to create it, once`() async throws {
        try await withHome { home in
            let declined = try await home.lanyardAtTerminal(["doctor"], [("create the sealed keyring? [Y/n]", "n")])
            #expect(declined.status == 1 && declined.description.contains("lanyard keyring create"), "\(declined)")
            let again = try await home.lanyardAtTerminal(["doctor"], [])
            #expect(again.status == 1 && !again.description.contains("[Y/n]"), "\(again)")
        }
        try await withHome { home in
            let agreed = try await home.lanyardAtTerminal(["doctor"], Self.agreement)
            #expect(agreed.description.contains("to check everything again: lanyard doctor"), "\(agreed)")
            #expect(try await home.lanyard(["keyring", "status"]).status == 0)
        }
    }

    @Test func `it is offered at a desktop without a keyring service, and no window is waited for`() async throws {
        try await withHome { home in
            let desktop = home.with(["DISPLAY": ":99"])
            let agreed = try await desktop.lanyardAtTerminal(["cache", "list"], Self.agreement)
            #expect(agreed.status == 0, "\(agreed)")
            guard !Self.hasSystemd else { return }
            #expect(try await desktop.lanyard(["lock"]).status == 0)
            let unlocked = try await desktop.lanyardAtTerminal(
                ["cache", "list"], [("password of the keyring", "p q r")])
            #expect(unlocked.status == 0, "\(unlocked)")
        }
    }

    /// Whether this machine has the service with which no passphrase is needed.
    private static let hasSystemd = FileManager.default.fileExists(atPath: "/run/systemd/io.systemd.Credentials")
    /// What a user types who wants the keyring.
    private static let agreement =
        [("create the sealed keyring? [Y/n]", "")]
        + (hasSystemd ? [] : [("new passphrase", "p q r"), ("repeat the passphrase", "p q r")])
}
