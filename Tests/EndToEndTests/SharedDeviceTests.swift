import Foundation
import TestSupport
import Testing

/// A shared device: nothing outlives the session, and one account is used at a time.
///
/// The system's file is the real one, in a separate mount namespace for each process.
@Suite struct SharedDeviceTests {
    static let shared = #"device-mode = "shared""#
    static let alice = AccountChoiceTests.alice
    static let carol = AccountChoiceTests.carol

    static func login(_ world: World, as user: String) async throws -> Ended {
        try await world.lanyard(
            ["login", "\(world.sandbox.resource)/common/hello.git", "--account", user], system: shared,
            world.browser(as: user))
    }

    static func get(_ world: World, _ lines: String = "") async throws -> Ended {
        try await world.lanyard(
            ["get"], system: shared, input: "url=\(world.sandbox.resource)/common/hello.git\n\(lines)")
    }

    /// Returns the collections with an item of lanyard's or git's.
    static func collections(_ world: World) async throws -> Set<String> {
        var collections: Set<String> = []
        for attribute in ["group,dev.lanyard", "xdg:schema,org.git.Password"] {
            let found = try await run(
                "dbus-send",
                [
                    "--session", "--print-reply", "--dest=org.freedesktop.secrets", "/org/freedesktop/secrets",
                    "org.freedesktop.Secret.Service.SearchItems", "dict:string:string:\(attribute)",
                ], environment: world.environment)
            let paths = found.output.split(separator: "\"").filter { $0.hasPrefix("/org/freedesktop/secrets/") }
            #expect(!paths.isEmpty, "\(found)")
            collections.formUnion(paths.compactMap { $0.split(separator: "/").dropLast().last.map(String.init) })
        }
        return collections
    }

    @Test func `everything is in the session's keyring and ends with it`() async throws {
        try await World.with(.secretService) { world in
            #expect(try await Self.login(world, as: Self.alice).status == 0)
            let store = "url=https://git.example/\nusername=u\npassword=p\n"
            #expect(try await world.lanyard(["store"], system: Self.shared, input: store).status == 0)
            #expect(try await Self.get(world).value("username") == Self.alice)
            #expect(try await Self.collections(world) == ["session"])
            #expect(FileManager.default.fileExists(atPath: world.folder + "/run/lanyard/selection"))
            #expect(!FileManager.default.fileExists(atPath: world.selectionFile))
            try await world.keyring.endProvider()
            try await world.keyring.unlock()
            #expect(try await world.lanyard(["status", "--accounts"], system: Self.shared).output.isEmpty)
            let password = try await world.lanyard(["get"], system: Self.shared, input: "url=https://git.example/\n")
            #expect(password.status == 0 && password.output.isEmpty, "\(password)")
        }
    }

    @Test func `two accounts are an error whichever was chosen, and signing one out settles it`() async throws {
        try await World.with(.secretService) { world in
            #expect(try await Self.login(world, as: Self.alice).status == 0)
            let second = try await Self.login(world, as: Self.carol)
            #expect(second.errors.contains("lanyard: this device is shared: sign out the other accounts"), "\(second)")
            let both = try await Self.get(world)
            #expect(both.status == 1 && both.hasNoCredential, "\(both)")
            #expect(both.errors.hasPrefix("lanyard: error: several accounts could be meant: "), "\(both)")
            #expect(both.errors.contains("lanyard: hint: sign the others out: lanyard logout "), "\(both)")
            #expect(try await Self.get(world, "account=\(Self.alice)\n").value("username") == Self.alice)
            #expect(try await world.lanyard(["logout", Self.carol], system: Self.shared).status == 0)
            #expect(try await Self.get(world).value("username") == Self.alice)
        }
    }

    @Test func `signing out takes every client's tokens`() async throws {
        try await World.with(.secretService) { world in
            #expect(try await Self.login(world, as: Self.alice).status == 0)
            let other = [
                "login", "--authority", "\(world.sandbox.authority)/common", "--client-id", SignOutTests.family[0],
                "--scope", "api://sandbox-git/.default",
            ]
            #expect(try await world.lanyard(other, system: Self.shared, world.browser(as: Self.alice)).status == 0)
            let logout = try await world.lanyard(["logout"], system: Self.shared)
            #expect(logout.status == 0 && logout.errors == "lanyard: signed out \(Self.alice)\n", "\(logout)")
            #expect(try await world.lanyard(["status", "--accounts"], system: Self.shared).output.isEmpty)
        }
    }

    @Test func `only the system's file says so`() async throws {
        try await World.with(.secretService) { world in
            for mode in ["shared", "personal"] {
                let before = try String(contentsOfFile: world.configFile, encoding: .utf8)
                try world.configure(before: "device-mode = \"\(mode)\"")
                let ended = try await world.lanyard(["status", "--accounts"])
                #expect(ended.status == 1, "\(ended)")
                #expect(
                    ended.errors == """
                        lanyard: error: \(world.configFile):1: `device-mode` is allowed only in the system's file
                        lanyard: hint: move it to /etc/lanyard/config.toml

                        """, "\(ended)")
                try before.write(toFile: world.configFile, atomically: true, encoding: .utf8)
            }
        }
    }
}
