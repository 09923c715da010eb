import TestSupport
import Testing

/// git's expectations of a storing helper, tested through git itself.
@Suite struct GitHelperTests {
    @Test(arguments: KeyringFixture.State.open)
    func `what is not stored is asked for`(state: KeyringFixture.State) async throws {
        try await GitClient.with(state) { git in
            #expect(try await git.fill("protocol=https", "host=example.com") == "askpass-username:askpass-password")
            try await git.approve("protocol=https", "host=example.com", "username=store-user", "password=store-pass")
            #expect(try await git.fill("protocol=https", "host=example.com") == "store-user:store-pass")
            #expect(try await git.fill("protocol=http", "host=example.com") == "askpass-username:askpass-password")
            #expect(try await git.fill("protocol=https", "host=other.tld") == "askpass-username:askpass-password")
            #expect(
                try await git.fill("protocol=https", "host=example.com", "username=other") == "other:askpass-password")
        }
    }

    @Test(arguments: KeyringFixture.State.open)
    func `a path is part of what is asked for`(state: KeyringFixture.State) async throws {
        try await GitClient.with(state) { git in
            try await git.approve(
                "protocol=http", "host=path.tld", "path=foo.git", "username=user", "password=pass")
            #expect(try await git.fill("protocol=http", "host=path.tld", "path=foo.git") == "user:pass")
            let others = "askpass-username:askpass-password"
            #expect(try await git.fill("protocol=http", "host=path.tld", "path=bar.git") == others)
            #expect(try await git.fill("protocol=http", "host=path.tld") == others)
        }
    }

    @Test(arguments: KeyringFixture.State.open)
    func `a new password replaces the old one, and only the right one is rejected`(state: KeyringFixture.State)
        async throws
    {
        try await GitClient.with(state) { git in
            let user = "username=user-overwrite"
            try await git.approve("protocol=https", "host=example.com", user, "password=pass1")
            try await git.approve("protocol=https", "host=example.com", user, "password=pass2")
            #expect(try await git.fill("protocol=https", "host=example.com", user) == "user-overwrite:pass2")
            try await git.reject("protocol=https", "host=example.com", user, "password=pass1")
            #expect(try await git.fill("protocol=https", "host=example.com", user) == "user-overwrite:pass2")
            try await git.reject("protocol=https", "host=example.com", user, "password=pass2")
            #expect(
                try await git.fill("protocol=https", "host=example.com", user) == "user-overwrite:askpass-password")
        }
    }

    @Test(arguments: KeyringFixture.State.open)
    func `users of one host are kept apart`(state: KeyringFixture.State) async throws {
        try await GitClient.with(state) { git in
            for name in ["1", "2"] {
                try await git.approve(
                    "protocol=https", "host=example.com", "username=user\(name)", "password=pass\(name)")
            }
            #expect(try await git.fill("protocol=https", "host=example.com", "username=user1") == "user1:pass1")
            #expect(try await git.fill("protocol=https", "host=example.com", "username=user2") == "user2:pass2")
            #expect(try await git.fill("protocol=https", "host=example.com") == "user2:pass2")
            try await git.reject("protocol=https", "host=example.com", "username=user1")
            #expect(
                try await git.fill("protocol=https", "host=example.com", "username=user1") == "user1:askpass-password")
            #expect(try await git.fill("protocol=https", "host=example.com", "username=user2") == "user2:pass2")
        }
    }

    @Test(arguments: KeyringFixture.State.open)
    func `rejecting a host without a user forgets every user of it`(state: KeyringFixture.State) async throws {
        try await GitClient.with(state) { git in
            for name in ["1", "2"] {
                try await git.approve(
                    "protocol=https", "host=example.com", "username=user-erase\(name)", "password=pass\(name)")
            }
            try await git.approve("protocol=https", "host=example.com:8443", "username=port", "password=pass")
            try await git.reject("protocol=https", "host=example.com")
            #expect(try await git.fill("protocol=https", "host=example.com") == "askpass-username:askpass-password")
            #expect(try await git.fill("protocol=https", "host=example.com:8443") == "port:pass")
        }
    }

    @Test(arguments: KeyringFixture.State.open)
    func `an empty user name and password are stored`(state: KeyringFixture.State) async throws {
        try await GitClient.with(state) { git in
            try await git.approve("protocol=https", "host=sso.tld", "username=", "password=")
            #expect(try await git.fill("protocol=https", "host=sso.tld") == ":")
        }
    }

    @Test(arguments: KeyringFixture.State.open)
    func `a long header smuggles no host in`(state: KeyringFixture.State) async throws {
        try await GitClient.with(state) { git in
            try await git.approve(
                "protocol=https", "host=victim.example.com", "username=user", "password=to-be-stolen")
            for length in [1000, 1015, 4087, 60_000] {
                let header = "wwwauth[]=" + String(repeating: "a", count: length) + "host=victim.example.com"
                #expect(
                    try await git.fill("protocol=https", "host=badguy.example.com", header)
                        == "askpass-username:askpass-password")
            }
        }
    }

    @Test(arguments: KeyringFixture.State.open)
    func `no protocol or no host finds nothing`(state: KeyringFixture.State) async throws {
        try await KeyringFixture.with(state) { keyring in
            let stored = "protocol=https\nhost=example.com\nusername=u\npassword=p\n"
            try await keyring.probe("store", input: stored).expectSilence()
            for input in ["protocol=https\n", "host=example.com\n", "\n", "", "protocol=https\nhost=\n"] {
                let result = try await keyring.probe("get", input: input)
                #expect(result.output.isEmpty, "\(input)")
            }
        }
    }
}
