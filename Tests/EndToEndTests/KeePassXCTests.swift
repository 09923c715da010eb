import TestSupport
import Testing

/// Everything that works with gnome-keyring works with another provider of the Secret Service.
@Suite struct KeePassXCTests {
    private static let uncached = ["LANYARD_ANSWER_CACHE": "0"]
    private static let place = "protocol=https\nhost=git.example\n"

    @Test func `a clone signs in, and the next fetch finds its token`() async throws {
        try await KeePassXC.with { world, _ in
            let url = "\(world.sandbox.resource)/common/hello.git"
            let clone = try await world.git(["clone", "-q", url, "hello"], world.browser(as: "alice@contoso.example"))
            #expect(clone.status == 0, "\(clone)")
            try await world.sandbox.clearLog()
            let fetch = try await world.git(["-C", "hello", "fetch"], Self.uncached)
            #expect(fetch.status == 0, "\(fetch)")
            #expect(fetch.errors.isEmpty)
            #expect(try await world.sandbox.authorityRequests().isEmpty)
            let out = try await world.lanyard(["logout", "--all"])
            #expect(out.status == 0, "\(out)")
            #expect(try await world.get("common/hello.git", Self.uncached).status == 2)
        }
    }

    @Test func `a password is stored, replaced, found and erased`() async throws {
        try await KeePassXC.with { world, _ in
            for password in ["one", "two"] {
                let stored = try await world.lanyard(
                    ["store"], input: Self.place + "username=u\npassword=\(password)\n")
                #expect(stored.errors.isEmpty)
                let found = try await world.lanyard(["get"], input: Self.place)
                #expect(found.value("password") == password, "\(found)")
            }
            try await world.lanyard(["erase"], input: Self.place + "username=u\npassword=one\n")
            #expect(try await world.lanyard(["get"], input: Self.place).value("password") == "two")
            try await world.lanyard(["erase"], input: Self.place + "username=u\npassword=two\n")
            #expect(try await world.lanyard(["get"], input: Self.place).output.isEmpty)
        }
    }

    @Test func `a locked database gives nothing away, in time, and says so`() async throws {
        try await KeePassXC.with { world, provider in
            try await world.lanyard(["store"], input: Self.place + "username=u\npassword=one\n")
            try await provider.lock()
            for verb in ["get", "store", "erase"] {
                let started = ContinuousClock.now
                let ended = try await world.lanyard([verb], input: Self.place + "username=u\npassword=other\n")
                #expect(ContinuousClock.now - started < .seconds(10))
                #expect(ended.output.isEmpty, "\(verb): \(ended)")
                #expect(ended.errors.hasPrefix("lanyard: error: "), "\(verb): \(ended)")
                #expect(ended.errors.contains("lanyard: hint: "), "\(verb): \(ended)")
            }
            let unlock = try await world.lanyard(["unlock"], input: "x\n")
            #expect(unlock.status == 1 && unlock.errors.contains("keepassxc"), "\(unlock)")
            #expect(unlock.errors.contains("lanyard: hint: unlock its database or wallet in its window"), "\(unlock)")
        }
    }
}
