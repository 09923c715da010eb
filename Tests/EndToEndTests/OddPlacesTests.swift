import Foundation
import TestSupport
import Testing

/// Where lanyard may live, and what a parent process may leave it with.
@Suite struct OddPlacesTests {
    /// Runs a shell script with lanyard on its `PATH`.
    private static func sh(_ home: Home, _ script: String) async throws -> Ended {
        try await run(
            "/bin/bash", ["-c", script], environment: home.environment, folder: home.folder + "/home",
            timeout: .seconds(60))
    }

    @Test(
        .enabled(if: Namespaces.areAvailable, "this user may make no namespaces"),
        arguments: ["--map-current-user", "--map-root-user"])
    func `plugins are trusted where the machine's root is nobody`(_ mapping: String) async throws {
        try await Home.with { home in
            let listed = try await Self.sh(home, "exec unshare -U \(mapping) lanyard plugin list")
            #expect(listed.status == 0 && listed.errors.isEmpty, "\(listed)")
            #expect(listed.output.contains("aad-common") && listed.output.contains("oauth"), "\(listed)")
        }
    }

    @Test(.enabled(if: Namespaces.areAvailable, "this user may make no namespaces"))
    func `what others may write to isn't, even there`() async throws {
        try await Home.with { home in
            try home.write("name = 1", to: "\(home.folder)/plugins/quill/plugin.toml")
            let listed = try await Self.sh(
                home,
                """
                chmod 777 '\(home.folder)/plugins/quill'
                LANYARD_PLUGIN_PATH='\(home.folder)/plugins' exec unshare -U --map-current-user lanyard plugin list
                """)
            #expect(listed.errors.contains("could have been written by another user"), "\(listed)")
        }
    }

    @Test(arguments: [#"/\377"#, #"/caf\351 au lait"#, "/caf\u{E9}", "/it's"])
    func `a home of any bytes has its settings`(_ name: String) async throws {
        try await Home.with { home in
            let script = """
                export HOME="$(printf '%s\(name.replacing("'", with: #"'\''"#))' "$PWD")"
                unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME
                mkdir -p "$HOME/.config/lanyard"
                printf 'timeout = 77\\n' >"$HOME/.config/lanyard/config.toml"
                lanyard config get timeout && lanyard config set timeout 78 && cat "$HOME/.config/lanyard/config.toml"
                ls -A | wc -l
                """
            let ended = try await Self.sh(home, script)
            #expect(ended.output == "77\ntimeout = 78\n1\n", "\(ended)")
        }
    }

    @Test func `a parent that ignores the end of its children changes nothing`() async throws {
        try await World.with { world in
            let environment = world.environment.merging(world.browser(as: "alice@contoso.example")) { $1 }
            let script = "trap '' CHLD; exec lanyard token \(world.sandbox.resource)/common/hello.git"
            let token = try await run(
                "/bin/sh", ["-c", script], environment: environment, folder: world.folder + "/work")
            #expect(token.status == 0 && !token.output.isEmpty, "\(token)")
        }
    }

    @Test func `what exec starts gets the signals back that the parent ignored`() async throws {
        try await Home.with { home in
            let script = """
                lanyard config set authority https://login.microsoftonline.com/contoso.com
                lanyard config set client-id azure-cli
                trap '' CHLD XFSZ
                exec lanyard exec --as azure-cli -- grep SigIgn /proc/self/status
                """
            let ended = try await Self.sh(home, script)
            let word = try #require(ended.output.split(separator: "\t").last, "\(ended)")
            let ignored = try #require(UInt64(word.trimmingCharacters(in: .whitespacesAndNewlines), radix: 16))
            #expect(ignored & (1 << 16) != 0 && ignored & (1 << 24) != 0, "\(ended)")
        }
    }

    @Test(
        arguments: [
            ("ulimit -n 10", "may open too few files"), ("ulimit -u 1", "the system grants no more threads"),
        ].filter { geteuid() != 0 || !$0.0.contains("-u") })
    func `a limit that is reached is an error, not a hang`(_ limit: String, _ message: String) async throws {
        try await Home.with { home in
            for command in ["--version", "token https://git.example", "doctor"] {
                let ended = try await Self.sh(home, "\(limit); exec lanyard \(command)")
                #expect(ended.status == 1 && ended.errors.contains("lanyard: error: "), "\(command) \(ended)")
                #expect(ended.errors.contains(message), "\(command) \(ended)")
            }
            let ended = try await Self.sh(
                home, "printf 'url=https://git.example\\n' >ask; \(limit); exec lanyard get <ask")
            #expect(ended.hasNoCredential && ended.errors.contains(message), "\(ended)")
        }
    }

    @Test func `a folder that is gone is no reason to fail`() async throws {
        try await Home.with { home in
            let ended = try await Self.sh(home, "mkdir gone && cd gone && rmdir ../gone && exec lanyard plugin list")
            #expect(ended.status == 0 && ended.output.contains("oauth"), "\(ended)")
        }
    }

    @Test func `the installer says which folder others can write to`() async throws {
        let installer = "\(Built.checkout)/script/installer"
        try await Home.with { home in
            for (mode, isFine) in [("755", true), ("777", false)] {
                let ended = try await Self.sh(
                    home, "mkdir -p pre/lib && chmod \(mode) pre/lib && exec sh '\(installer)' --check \"$PWD/pre\"")
                #expect((ended.status == 0) == isFine, "\(ended)")
                #expect(
                    ended.errors.contains("other users can write to \(home.folder)/home/pre/lib") != isFine, "\(ended)")
            }
        }
    }
}
