import TestSupport
import Testing

/// Everything that works with gnome-keyring works with another provider of the Secret Service.
@Suite struct KeePassXCTests {
    private static let uncached = ["LANYARD_ANSWER_CACHE": "0"]
    private static let place = "protocol=https\nhost=git.example\n"

    /// Runs the bodies as `KeePassXC.with` does; what fails because it has crashed is no failure, since all is done anew then.
    private static func with(
        accessAsks: Bool = false, deletionsAsk: Bool = false, display: String? = nil,
        _ bodies: (@Sendable (World, KeePassXC) async throws -> Void)...
    ) async throws {
        try await KeePassXC.with(
            accessAsks: accessAsks, deletionsAsk: deletionsAsk, display: display,
            bodies.map { body in
                { world, provider in
                    try await withKnownIssue("KeePassXC has crashed", isIntermittent: true) {
                        try await body(world, provider)
                    } matching: { _ in
                        !provider.isRunning
                    }
                }
            })
    }

    @Test func `a clone signs in, and the next fetch finds its token`() async throws {
        try await Self.with { world, _ in
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
        try await Self.with { world, _ in
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

    /// KeePassXC 2.7.4 asks before CreateItem replaces an item, even if it is told to ask for nothing.
    @Test func `refresh tokens that work once are replaced, again and again`() async throws {
        try await Self.with { world, _ in
            try await world.sandbox.set(#"{"access_token_lifetime": 200, "single_use_refresh_tokens": 1}"#)
            let first = try await world.get("common/hello.git", world.browser(as: "alice@contoso.example"))
            #expect(first.status == 0, "\(first)")
            for _ in 0..<3 {
                let again = try await world.get("common/hello.git", Self.uncached)
                #expect(again.status == 0 && again.errors.isEmpty, "\(again)")
            }
        }
    }

    @Test func `what a window asks about is deleted if the user says so, and only then`() async throws {
        try await KeePassXC.withDisplay { display in
            try await Self.with(deletionsAsk: true, display: display) { world, provider in
                let stored = Self.place + "username=u\npassword=one\n"
                try await world.lanyard(["store"], input: stored)
                // The button that is chosen at first is Cancel.
                for key in ["Escape", "Return"] {
                    async let erasing = world.lanyard(["erase"], ["DISPLAY": display], input: stored)
                    try await provider.press([key], in: "Delete entry", at: display)
                    let ended = try await erasing
                    #expect(ended.errors.hasPrefix("lanyard: error: the keyring service refused"), "\(ended)")
                    #expect(try await world.lanyard(["get"], input: Self.place).value("password") == "one")
                }
                async let erasing = world.lanyard(["erase"], ["DISPLAY": display], input: stored)
                try await provider.press(["Tab", "space"], in: "Delete entry", at: display)
                #expect(try await erasing.errors.isEmpty)
                #expect(try await world.lanyard(["get"], input: Self.place).output.isEmpty)
                // Without a user, nobody is waited for.
                try await world.lanyard(["store"], input: stored)
                let alone = try await world.lanyard(["erase"], input: stored)
                #expect(alone.errors.hasPrefix("lanyard: error: the keyring service refused"), "\(alone)")
                #expect(try await world.lanyard(["get"], input: Self.place).value("password") == "one")
                // KeePassXC leaves the window open nonetheless, and doesn't end before it is closed.
                try await provider.press(["Escape"], in: "Delete entry", at: display)
            }
        }
    }

    @Test func `every awkward password comes back after a restart as it went in`() async throws {
        let passwords = [
            " lead", "trail ", "\ttab", #"back\slash"#, #"\n"#, #"\\"#, #"end\"#, #"\u005c"#, "[keyring]", "#c", "a=b",
            "é", "鍵",
            "🔑", "\u{1}", "<b>&amp;", "]]>", "'\"`$", String(repeating: "x", count: 4000),
        ]
        try await Self.with(
            { world, _ in
                for (number, password) in passwords.enumerated() {
                    let lines = "username=u\(number)\npassword=\(password)\npassword_expiry_utc=99999999999\n"
                    let ended = try await world.lanyard(["store"], input: Self.place + lines)
                    #expect(ended.errors.isEmpty, "\(ended)")
                }
            },
            { world, _ in
                for (number, password) in passwords.enumerated() {
                    let found = try await world.lanyard(["get"], input: Self.place + "username=u\(number)\n")
                    #expect(found.value("password") == password, "\(number): \(found)")
                    #expect(found.value("password_expiry_utc") == "99999999999", "\(number): \(found)")
                }
            })
    }

    @Test func `a locked database gives nothing away, in time, and says so`() async throws {
        try await Self.with { world, provider in
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
            #expect(unlock.status == 1 && unlock.errors.contains("the keyring is locked"), "\(unlock)")
            let hint = "lanyard: hint: unlock the database in KeePassXC's window"
            #expect(unlock.errors.contains(hint) && !unlock.errors.contains("lanyard unlock"), "\(unlock)")
        }
    }

    @Test func `if it asks before each access, all commands say so that can't ask`() async throws {
        try await Self.with(accessAsks: true, deletionsAsk: true) { world, _ in
            let stored = try await world.lanyard(["store"], input: Self.place + "username=u\npassword=one\n")
            #expect(stored.errors.isEmpty, "\(stored)")
            let told = "KeePassXC asks before each access, and can ask nobody here\n"
            for (arguments, input) in [(["get"], Self.place), (["unlock"], "x\n")] {
                let ended = try await world.lanyard(arguments, input: input)
                #expect(ended.output.isEmpty && ended.errors.hasPrefix("lanyard: error: \(told)"), "\(ended)")
                #expect(ended.errors.contains("lanyard: hint: for scripts, turn that off"), "\(ended)")
                #expect(!ended.errors.contains("lanyard unlock"), "\(ended)")
            }
            let doctor = try await world.lanyard(["doctor", "--all"])
            #expect(doctor.output.contains(told) && !doctor.output.contains("unlock it"), "\(doctor)")
            #expect(doctor.output.contains("keepassxc"), "\(doctor)")
        }
    }

    @Test func `without an open database it is told what to open`() async throws {
        try await Self.with { world, provider in
            try await provider.close()
            for arguments in [["store"], ["unlock"], ["doctor"]] {
                let ended = try await world.lanyard(arguments, input: Self.place + "username=u\npassword=one\n")
                let shown = ended.output + ended.errors
                #expect(shown.contains("KeePassXC has no open database that other programs may use"), "\(ended)")
                #expect(!shown.contains("lanyard unlock"), "\(ended)")
            }
        }
    }

    @Test func `an ordinary user is told its name if it hangs, too`() async throws {
        try await Self.with { world, _ in
            try await world.keyring.suspend()
            let ended = try await world.lanyard(["get"], input: Self.place)
            try await world.keyring.resume()
            #expect(ended.errors.contains("lanyard: hint: restart keepassxc and try again"), "\(ended)")
        }
    }

    @Test func `if it is installed but doesn't run, the hint is to start it`() async throws {
        try await KeyringFixture.with(.noProvider) { keyring in
            let ended = try await keyring.run(Built.lanyard, ["get"], input: Self.place)
            #expect(ended.errors.contains("\nlanyard: hint: start KeePassXC, "), "\(ended)")
            #expect(!ended.errors.contains("gnome-keyring"), "\(ended)")
        }
    }
}
