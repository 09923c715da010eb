import TestSupport
import Testing

/// Input of newer git versions to a helper, and cases that no git helper handled carefully.
@Suite struct PasswordStoreTests {
    private static let host = "protocol=https\nhost=git.example.com\n"
    private static let authtype = "capability[]=authtype\n"

    @Test(arguments: KeyringFixture.State.open)
    func `an expiry and a refresh token come back, and what expired does not`(state: KeyringFixture.State) async throws
    {
        try await KeyringFixture.with(state) { keyring in
            try await store(keyring, "username=u", "password=old", "password_expiry_utc=9999999998")
            try await store(
                keyring, "username=u", "password=p", "password_expiry_utc=9999999999", "oauth_refresh_token=xyzzy")
            #expect(
                try await get(keyring)
                    == "username=u\npassword=p\npassword_expiry_utc=9999999999\noauth_refresh_token=xyzzy\n")
            try await store(keyring, "username=u", "password=late", "password_expiry_utc=1")
            #expect(try await get(keyring) == "")
            try await store(keyring, "username=u", "password=for ever", "password_expiry_utc=0")
            #expect(try await get(keyring) == "username=u\npassword=for ever\n")
        }
    }

    @Test(arguments: KeyringFixture.State.open)
    func `users whose names only look alike have a password each`(state: KeyringFixture.State) async throws {
        try await KeyringFixture.with(state) { keyring in
            let names = ["caf\u{E9}", "cafe\u{301}"]
            for name in names { try await store(keyring, "username=\(name)", "password=same") }
            for name in names {
                let answer = "username=\(name)\npassword=same\n"
                #expect(Array(try await get(keyring, "username=\(name)").utf8) == Array(answer.utf8))
            }
        }
    }

    @Test(arguments: KeyringFixture.State.open)
    func `an authorization is for those who understand it`(state: KeyringFixture.State) async throws {
        try await KeyringFixture.with(state) { keyring in
            try await store(keyring, Self.authtype + "authtype=Bearer", "credential=random-token")
            let answer = "capability[]=authtype\nauthtype=Bearer\ncredential=random-token\n"
            #expect(try await get(keyring, Self.authtype) == answer)
            #expect(try await get(keyring) == "")
            try await store(
                keyring, Self.authtype + "authtype=Bearer", "credential=other-token", "username=foobar")
            let other = "capability[]=authtype\nauthtype=Bearer\ncredential=other-token\nusername=foobar\n"
            #expect(try await get(keyring, Self.authtype, "username=foobar") == other)
            #expect(try await get(keyring, "username=foobar") == "")
            #expect(try await get(keyring, Self.authtype, "username=barbaz") == "")
        }
    }

    @Test func `git's own helper never sees an authorization`() async throws {
        try await KeyringFixture.with(.unlocked) { keyring in
            let helper = try await GitLibsecretHelper.gitSchema.build(in: keyring.scratch)
            try await store(keyring, Self.authtype + "authtype=Bearer", "credential=token", "username=u")
            #expect(try await keyring.run(helper, ["get"], input: Self.host).output == "")
        }
    }

    @Test(arguments: KeyringFixture.State.open)
    func `a wrong proof erases nothing`(state: KeyringFixture.State) async throws {
        try await KeyringFixture.with(state) { keyring in
            try await store(keyring, "username=u", "password=p")
            try await store(keyring, Self.authtype + "authtype=Bearer", "credential=t", "username=u")
            for proof in ["password=q", "password=t", "credential=q", "credential=p"] {
                try await erase(keyring, proof)
            }
            #expect(try await get(keyring) == "username=u\npassword=p\n")
            try await erase(keyring, "credential=t")
            #expect(try await get(keyring, Self.authtype) == "username=u\npassword=p\n")
            try await store(keyring, Self.authtype + "authtype=Bearer", "credential=t")
            try await erase(keyring)
            #expect(try await get(keyring, Self.authtype) == "")
        }
    }

    @Test(arguments: KeyringFixture.State.open)
    func `an item with fewer attributes overwrites none with more`(state: KeyringFixture.State) async throws {
        try await KeyringFixture.with(state) { keyring in
            let addresses = ["path=a\n", "path=b\n", "path=\n"]
            for address in addresses + addresses {
                try await store(keyring, address + "username=u", "password=\(address.dropLast())")
            }
            for address in addresses {
                #expect(try await get(keyring, address) == "username=u\npassword=\(address.dropLast())\n")
            }
            try await erase(keyring)
            #expect(try await get(keyring) == "")
            #expect(try await get(keyring, "path=a\n") == "username=u\npassword=path=a\n")
        }
    }

    @Test(arguments: ["example.com", "example.com:8443", "[::1]", "[::1]:8443", "[fe80::1]", "example.com:443"])
    func `hosts and ports are exact`(_ host: String) async throws {
        let others = ["example.com", "example.com:8443", "[::1]", "[::1]:8443", "[fe80::1]", "example.com:443", "::1"]
        try await KeyringFixture.with(.unlocked) { keyring in
            let input = "protocol=https\nhost=\(host)\n"
            try await keyring.probe("store", input: input + "username=u\npassword=p\n").expectSilence()
            #expect(try await keyring.probe("get", input: input).output == "username=u\npassword=p\n")
            for other in others where other != host {
                #expect(try await keyring.probe("get", input: "protocol=https\nhost=\(other)\n").output == "")
            }
        }
    }

    @Test(arguments: [
        ("a/b/c", "a/b"), ("a/b", "a/b"), ("a/b/", "a/b"), ("a/bc", "a"), ("a", "a"), ("b", "host"), ("", "host"),
    ])
    func `the nearest place above counts`(_ path: String, _ found: String) async throws {
        try await KeyringFixture.with(.unlocked) { keyring in
            try await store(keyring, "username=u", "password=host")
            for place in ["a", "a/b"] { try await store(keyring, "path=\(place)", "username=u", "password=\(place)") }
            try await store(keyring, "path=a/b/c/d", "username=u", "password=below")
            #expect(try await get(keyring, "path=\(path)\nreach=above") == "username=u\npassword=\(found)\n")
            let other = "protocol=https\nhost=git.example.com:8443\npath=\(path)\nreach=above\n"
            #expect(try await keyring.probe("get", input: other).output == "")
        }
    }

    @Test(arguments: KeyringFixture.State.open)
    func `what is below a host counts if there is no choice`(state: KeyringFixture.State) async throws {
        try await KeyringFixture.with(state) { keyring in
            // It belongs to the protocol with this path.
            try await store(keyring, "path=.well-known/terraform.json", "username=u", "password=t")
            #expect(try await get(keyring, "reach=below") == "")
            try await store(keyring, "path=a", "username=u", "password=a")
            #expect(try await get(keyring) == "")
            #expect(try await get(keyring, "reach=below") == "username=u\npassword=a\n")
            try await store(keyring, "path=b", "username=u", "password=b")
            #expect(try await get(keyring, "reach=below") == "")
            try await store(keyring, "username=u", "password=host")
            #expect(try await get(keyring, "reach=below") == "username=u\npassword=host\n")
            try await store(keyring, Self.authtype + "path=c", "authtype=Bearer", "credential=t")
            #expect(try await get(keyring, "path=d\nreach=below") == "username=u\npassword=host\n")
            let below = "capability[]=authtype\nauthtype=Bearer\ncredential=t\n"
            #expect(try await get(keyring, Self.authtype, "path=c/d\nreach=above") == below)
        }
    }

    @Test func `a locked keyring keeps its passwords`() async throws {
        try await KeyringFixture.with(.unlocked) { keyring in
            try await store(keyring, "username=u", "password=p")
            try await keyring.lock()
            for operation in ["get", "store", "erase"] {
                let result = try await keyring.probe(operation, input: Self.host + "username=u\npassword=q\n")
                #expect(result.output.hasPrefix("error: locked"))
            }
            try await keyring.endProvider()
            try await keyring.unlock()
            #expect(try await keyring.probe("get", input: Self.host).status == 0)
        }
    }

    @Test(arguments: [true, false])
    func `processes that store at once lose nothing and leave nothing twice`(_ same: Bool) async throws {
        try await KeyringFixture.with(.unlocked) { keyring in
            try await store(keyring, "path=more", "username=u0", "password=more")
            try await withThrowingTaskGroup { group in
                for number in 0..<20 {
                    group.addTask {
                        let input = Self.host + "username=u\(same ? 0 : number)\npassword=p\(number)\n"
                        try await keyring.probe("store", ["deadline": "30"], input: input).expectSilence()
                    }
                }
                try await group.waitForAll()
            }
            let found = try await keyring.run("secret-tool", ["search", "--all", "server", "git.example.com"])
            let count = found.output.split(separator: "\n").count { $0.hasPrefix("[/") }
            #expect(count == (same ? 2 : 21))
            #expect(try await get(keyring, "path=more\n") == "username=u0\npassword=more\n")
        }
    }

    private func store(_ keyring: KeyringFixture, _ lines: String...) async throws {
        let input = Self.host + lines.joined(separator: "\n") + "\n"
        try await keyring.probe("store", input: input).expectSilence()
    }

    private func erase(_ keyring: KeyringFixture, _ lines: String...) async throws {
        let input = Self.host + lines.joined(separator: "\n") + "\n"
        try await keyring.probe("erase", input: input).expectSilence()
    }

    private func get(_ keyring: KeyringFixture, _ lines: String...) async throws -> String {
        let result = try await keyring.probe("get", input: Self.host + lines.joined() + "\n")
        try result.expectSuccess()
        return result.output
    }
}
