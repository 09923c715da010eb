import Foundation
import TestSupport
import Testing

/// git's own test cases for credential helpers, in its order; each builds on the previous ones.
@Suite struct HelperTests {
    /// git, which asks lanyard and then a user who always gives the same answer.
    private struct Git {
        let world: World
        let options: [String]

        /// Returns the output of `git credential` on stdout and stderr.
        func callAsFunction(_ operation: String, _ lines: [String], _ more: [String] = []) async throws -> [String] {
            let input = lines.map { "\($0)\n" }.joined()
            let ended = try await world.git(
                options + more + ["credential", operation], ["GIT_ASKPASS": world.folder + "/askpass"], input: input)
            return ended.lines + ended.errors.split(separator: "\n").map(String.init)
        }

        init(_ world: World, helper: String = "lanyard") throws {
            self.world = world
            options = ["-c", "credential.helper=", "-c", "credential.helper=\(helper)"]
            let askpass = """
                #!/bin/sh
                echo >&2 "askpass: $*"
                case "$1" in Username*) echo askpass-username ;; *) echo askpass-password ;; esac
                """
            let path = world.folder + "/askpass"
            try askpass.write(toFile: path, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
    }

    private func asked(_ scheme: String, _ host: String) -> [String] {
        [
            "protocol=\(scheme)", "host=\(host)", "username=askpass-username", "password=askpass-password",
            "askpass: Username for '\(scheme)://\(host)': ",
            "askpass: Password for '\(scheme)://askpass-username@\(host)': ",
        ]
    }

    private func found(_ host: String, _ user: String, _ password: String) -> [String] {
        ["protocol=https", "host=\(host)", "username=\(user)", "password=\(password)"]
    }

    @Test func `the sixteen cases of helper_test`() async throws {
        try await World.with { world in
            let git = try Git(world)
            let ex = ["protocol=https", "host=example.com"]
            #expect(try await git("fill", ex) == asked("https", "example.com"), "1: nothing is stored yet")
            #expect(try await git("approve", ex + ["username=store-user", "password=store-pass"]) == [], "2: stores")
            #expect(try await git("fill", ex) == found("example.com", "store-user", "store-pass"), "3: finds it")
            #expect(
                try await git("fill", ["protocol=http", "host=example.com"]) == asked("http", "example.com"),
                "4: another protocol")
            #expect(
                try await git("fill", ["protocol=https", "host=other.tld"]) == asked("https", "other.tld"),
                "5: another host")
            #expect(
                try await git("fill", ex + ["username=other"]) == [
                    "protocol=https", "host=example.com", "username=other", "password=askpass-password",
                    "askpass: Password for 'https://other@example.com': ",
                ], "6: another user")
            let byPath = ["-c", "credential.useHttpPath=true"]
            let path = ["protocol=http", "host=path.tld"]
            #expect(try await git("approve", path + ["path=foo.git", "username=user", "password=pass"], byPath) == [])
            #expect(
                try await git("fill", path + ["path=bar.git"], byPath) == [
                    "protocol=http", "host=path.tld", "path=bar.git", "username=askpass-username",
                    "password=askpass-password", "askpass: Username for 'http://path.tld/bar.git': ",
                    "askpass: Password for 'http://askpass-username@path.tld/bar.git': ",
                ], "7: another path")
            let over = ex + ["username=user-overwrite"]
            #expect(try await git("approve", over + ["password=pass1"]) == [])
            #expect(try await git("approve", over + ["password=pass2"]) == [])
            #expect(try await git("fill", over) == found("example.com", "user-overwrite", "pass2"), "8: overwrites")
            #expect(try await git("reject", over + ["password=pass2"]) == [])
            #expect(try await git("fill", over).last == "askpass: Password for 'https://user-overwrite@example.com': ")
            #expect(try await git("reject", ex) == [], "9: forgets the host")
            #expect(try await git("fill", ex) == asked("https", "example.com"))
            #expect(try await git("approve", ex + ["username=user1", "password=pass1"]) == [])
            #expect(try await git("approve", ex + ["username=user2", "password=pass2"]) == [])
            #expect(try await git("fill", ex + ["username=user1"]) == found("example.com", "user1", "pass1"), "10")
            #expect(try await git("fill", ex + ["username=user2"]) == found("example.com", "user2", "pass2"), "10")
            let distinct = ex + ["username=user-distinct-pass"]
            #expect(try await git("approve", distinct + ["password=pass1"]) == [])
            #expect(try await git("reject", distinct + ["password=pass2"]) == [])
            #expect(
                try await git("fill", distinct) == found("example.com", "user-distinct-pass", "pass1"),
                "11: another password is rejected")
            #expect(try await git("reject", ex + ["username=user1"]) == [])
            #expect(
                try await git("fill", ex + ["username=user1"]).last
                    == "askpass: Password for 'https://user1@example.com': ",
                "12: forgets the user")
            #expect(try await git("fill", ex + ["username=user2"]) == found("example.com", "user2", "pass2"), "13")
            let empty = ["protocol=https", "host=sso.tld"]
            #expect(try await git("approve", empty + ["username=", "password="]) == [])
            #expect(try await git("fill", empty) == found("sso.tld", "", ""), "14: empty user and password")
            #expect(try await git("approve", ex + ["username=user-erase1", "password=pass1"]) == [])
            #expect(try await git("approve", ex + ["username=user-erase2", "password=pass1"]) == [])
            #expect(try await git("reject", ex) == [])
            #expect(try await git("fill", ex) == asked("https", "example.com"), "15: forgets all that match")
        }
    }

    @Test func `options in credential.helper get a password stored and erased, too`() async throws {
        try await World.with { world in
            let git = try Git(world, helper: "lanyard --flow device-code")
            let host = ["protocol=https", "host=example.com"]
            #expect(try await git("approve", host + ["username=user", "password=typed"]) == [])
            #expect(try await git("fill", host) == found("example.com", "user", "typed"))
            #expect(try await git("reject", host + ["username=user", "password=typed"]) == [])
            #expect(try await git("fill", host) == asked("https", "example.com"))
        }
    }

    // git 2.39 neither sends nor prints wwwauth[], expiry, refresh token and authtype: these go over the pipe.
    @Test func `case 16, an over-long header forges no host`() async throws {
        try await World.with { world in
            let victim = "protocol=https\nhost=victim.example.com\nusername=user\npassword=to-be-stolen\n"
            #expect(try await world.lanyard(["store"], input: victim).status == 0)
            for length in [1000, 65_535, 100_000] {
                let long = String(repeating: "a", count: length)
                let attack = "protocol=https\nhost=badguy.example.com\nwwwauth[]=\(long)host=victim.example.com\n"
                let ended = try await world.lanyard(["get"], input: attack)
                #expect(ended.output.isEmpty)
                #expect(ended.status == (length < 65_000 ? 0 : 1))
            }
        }
    }

    @Test func `the three expiry cases and the two refresh token cases`() async throws {
        try await World.with { world in
            let ex = "protocol=https\nhost=example.com\n"
            let user = ex + "username=user-expiry\n"
            func store(_ text: String) async throws {
                let ended = try await world.lanyard(["store"], input: text)
                #expect(ended.status == 0 && ended.output.isEmpty && ended.errors.isEmpty, "\(ended)")
            }
            func get(_ text: String) async throws -> [String] { try await world.lanyard(["get"], input: text).lines }
            try await store(user + "password=pass\npassword_expiry_utc=9999999999\n")
            #expect(
                try await get(user) == ["username=user-expiry", "password=pass", "password_expiry_utc=9999999999"])
            let over = ex + "username=user-expiry-overwrite\n"
            try await store(over + "password=pass1\npassword_expiry_utc=9999999998\n")
            try await store(over + "password=pass2\npassword_expiry_utc=9999999999\n")
            #expect(
                try await get(over) == [
                    "username=user-expiry-overwrite", "password=pass2", "password_expiry_utc=9999999999",
                ])
            #expect(try await world.lanyard(["erase"], input: over + "password=pass2\n").status == 0)
            #expect(try await get(over) == [])
            try await store(ex + "username=user4\npassword=pass\noauth_refresh_token=xyzzy\n")
            #expect(
                try await get(ex + "username=user4\n") == [
                    "username=user4", "password=pass", "oauth_refresh_token=xyzzy",
                ])
            try await store(ex + "username=user5\npassword=pass\npassword_expiry_utc=1\n")
            #expect(try await get(ex + "username=user5\n") == [])
        }
    }

    @Test func `the eight authtype cases`() async throws {
        try await World.with { world in
            let capable = "capability[]=authtype\n"
            let ex = "protocol=https\nhost=git.example.com\n"
            func store(_ text: String) async throws { try await world.lanyard(["store"], input: text) }
            func get(_ text: String) async throws -> [String] { try await world.lanyard(["get"], input: text).lines }
            try await store(capable + "authtype=Bearer\ncredential=random-token\n" + ex)
            let answer = ["capability[]=authtype", "authtype=Bearer", "credential=random-token"]
            #expect(try await get(capable + ex) == answer)
            #expect(try await get(ex) == [])
            try await store(capable + "authtype=Bearer\ncredential=other-token\nusername=foobar\n" + ex)
            #expect(
                try await get(capable + ex + "username=foobar\n") == [
                    "capability[]=authtype", "authtype=Bearer", "credential=other-token", "username=foobar",
                ])
            #expect(try await get(ex + "username=foobar\n") == [])
            #expect(try await get(capable + ex + "username=barbaz\n") == [])
            let two = "protocol=https\nhost=git2.example.com\n"
            try await store(capable + "authtype=Bearer\ncredential=random-token\nephemeral=1\n" + two)
            #expect(try await get(capable + two) == [])
            try await store(capable + "ephemeral=1\nusername=u\npassword=p\n" + two)
            #expect(try await get(capable + two) == [])
        }
    }

    @Test func `asked alone, lanyard's tokens are in no other helper's file`() async throws {
        try await World.with { world in
            let url = "\(world.sandbox.resource)/common/hello.git"
            let file = world.folder + "/home/.git-credentials"
            _ = try await world.git(["config", "--global", "--add", "credential.helper", "store"])
            #expect(try await world.lanyard(["configure", "git", url, "--only", "--yes"]).status == 0)
            let clone = try await world.git(["clone", "-q", url, "one"], world.browser(as: "alice@contoso.example"))
            #expect(clone.status == 0, "\(clone)")
            #expect(!FileManager.default.fileExists(atPath: file))
            // Without `--only`, an older git stores them there, too, which is why `doctor` reports a failure.
            #expect(try await world.lanyard(["unconfigure", "git", "--yes"]).status == 0)
            #expect(try await world.lanyard(["configure", "git", "--yes"]).status == 0)
            #expect(try await world.git(["clone", "-q", url, "two"]).status == 0)
            let doctor = try await world.lanyard(["doctor"])
            let isLeft = FileManager.default.fileExists(atPath: file)
            #expect(isLeft == doctor.output.contains("also passes tokens to store"), "\(doctor)")
        }
    }

    @Test func `capability tells the format's version and what is understood`() async throws {
        try await World.with { world in
            let ended = try await world.lanyard(["capability"])
            #expect(ended.lines == ["version 0", "capability authtype", "capability state"])
        }
    }

    @Test(arguments: [["frobnicate"], ["--flow", "browser", "frobnicate"], ["list"]])
    func `a verb that nobody knows is ignored in silence`(arguments: [String]) async throws {
        let ended = try await run(
            "/bin/bash", ["-c", "exec -a git-credential-lanyard \"$0\" \"$@\"", Built.lanyard] + arguments,
            environment: ["PATH": Programs.folder, "HOME": "/nonexistent"])
        #expect(ended.status == 0)
        #expect(ended.output.isEmpty && ended.errors.isEmpty)
    }
}
